// Attention alignment (experiment/align.h) of a run folder, or of a T5 of the Hugging Face form, as a file that
// `--temperature aligned:FILE` reads:
//
//   {"format": "poslab alignment 1", "mode", "per", "run" (for a checkpoint "hf" and "task"),
//    "model": {"layers", "heads", "weights"},                     weights: their checksum
//    "short": {"length", "keys", "measured"},
//    "long": [{"length", "keys", "temperature": [...], "unreachable", "before", "after"}]}
//
// "measured", "before" and "after" are {"largest_weight", "entropy", "largest_logit", "variance"}. Each is a list: the
// model's value, then each layer's; null where a scheme has no logits.
#pragma once
#include <string>

#include "experiment/align.h"

namespace poslab {

struct AlignRequest {
  std::string run = {};     // a folder,
  std::string hf = {};      // or the folder of an external checkpoint
  Aligning how = {};        // for a checkpoint, lengths are sizes of its task
  int samples = 16;         // strings, texts or questions at each length
  std::string tasks = {};   // tasks of a T5 run, in place of its own
  std::string device = {};  // "": the run's device, for a checkpoint the CPU
  bool force = false;       // even if memory or time seem too large
  std::string task = {}, questions = {};  // for a checkpoint; see lab/runs/t5/questions.h
};
// The seed of the questions that align a checkpoint; `poslab t5 eval --hf` asks questions of other seeds.
constexpr uint64_t align_seed = uint64_t(1) << 32;

// Shows a progress bar on stderr. Throws BadInput if the run or checkpoint is missing, was trained with its own
// temperature, or cannot take a length; Interrupted on a signal; and as write_file() if `out` cannot be written.
Alignment write_alignment(const AlignRequest&, const std::string& out);

// Throws BadInput with the file's name if it is missing or was not written by `poslab align`.
AlignedTemperatures read_alignment(const std::string& path);

}  // namespace poslab
