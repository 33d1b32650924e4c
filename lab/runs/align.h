// Attention alignment (experiment/align.h) of a run folder, or of a T5 of the Hugging Face form, as a file that
// `--temperature aligned:FILE` reads:
//
//   {"format": "poslab alignment 1", "mode", "per", "run" (of a checkpoint "hf", "task"),
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
  std::string run = {};     // a folder,
  std::string hf = {};      // or that of an external checkpoint
  Aligning how = {};        // the lengths of a checkpoint are sizes of its task
  int samples = 16;         // strings, texts or questions at each length
  std::string tasks = {};   // of a T5's run: others than its own
  std::string device = {};  // "": that of the run
  bool force = false;       // even if it seems too large for the memory, or to take a month
  std::string task = {}, questions = {};  // of a checkpoint, as in lab/runs/t5/questions.h
};
// The seed of the questions for alignment of a checkpoint; `poslab t5 eval --hf` asks questions of other seeds.
constexpr uint64_t align_seed = uint64_t(1) << 32;

// With a bar on stderr. Throws BadInput where run or checkpoint is missing, was trained with a temperature of its own,
// or has no room for a length; Interrupted on a signal; as write_file if `out` cannot be written.
Alignment write_alignment(const AlignRequest&, const std::string& out);

// Throws BadInput, naming the file: it is missing, or `poslab align` did not write it.
AlignedTemperatures read_alignment(const std::string& path);

}  // namespace poslab
