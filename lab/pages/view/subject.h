// A run whose attention is drawn, whatever its kind: a task's encoder, a language model, the encoder of a T5.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiment/inside.h"
#include "lab/runs/values.h"

namespace poslab::view {

// The request. Numbers count from 1.
struct Options {
  int length = 0;         // of the input, or tokens; 0: the trained one
  int sample = 1;         // which string, text or question of the test
  std::string text = {};  // of kinds that read texts: in place of the test's
  std::vector<int> layers = {}, heads = {};
  std::vector<int64_t> steps = {};  // checkpoints; of these three, empty means all that there are
  bool force = false;               // even if it seems too large for the memory
};

struct Subject : Sample {
  std::string folder, heading;  // heading: its text, or the task that the sample is of
  Values setting = {};
  std::vector<int64_t> steps = {};              // of its checkpoints, in order
  std::function<void(int64_t step)> load = {};  // the weights of that checkpoint
  bool trained_elsewhere = false;               // an external checkpoint, the only one, called step 0
};
// Throws BadInput: no such run, a length that has no room, a sample or a text that its kind does not have.
Subject open(const std::string& folder, const Options&);

}  // namespace poslab::view
