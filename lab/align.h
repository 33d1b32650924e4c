// Attention alignment of a run folder (experiment/align.h), as a file that `--temperature aligned:FILE` reads:
//
//   {"format": "poslab alignment 1", "mode", "per", "run",
//    "model": {"layers", "heads", "weights"},                     weights: their checksum
//    "short": {"length", "keys", "measured"},
//    "long": [{"length", "keys", "temperature": [...], "unreachable", "before", "after"}]}
//
// "measured", "before" and "after" are {"largest_weight", "entropy", "largest_logit", "variance"}, each of the model
// and then of each layer; null where a scheme has no logits.
#pragma once
#include <string>

#include "experiment/align.h"

namespace poslab {

struct AlignRequest {
  std::string run;
  Aligning how;
  int samples = 16;         // strings or texts at each length
  std::string device = {};  // "": that of the run
};
// With a bar on stderr. Throws BadInput where the run is missing, was trained with a temperature of its own, or has no
// room for a length; Interrupted on a signal; as write_file if `out` cannot be written.
Alignment write_alignment(const AlignRequest&, const std::string& out);

// Throws BadInput, naming the file: it is missing, or `poslab align` did not write it.
AlignedTemperatures read_alignment(const std::string& path);

}  // namespace poslab
