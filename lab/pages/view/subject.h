// A run of any kind whose attention is drawn: a task's encoder, a language model, the encoder of a T5.
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
  int length = 0;         // length of the input, or tokens; 0: the trained length
  int sample = 1;         // index of the string, text or question of the test
  std::string text = {};  // for kinds that read texts: in place of the test's
  std::vector<int> layers = {}, heads = {};
  std::vector<int64_t> steps = {};  // checkpoints; each of these three may be empty, for all
  bool force = false;               // even if the memory seems too small
};

struct Subject : Sample {
  std::string folder, heading;  // heading: its text, or the sample's task
  Values setting = {};
  std::vector<int64_t> steps = {};              // steps of its checkpoints, in order
  std::function<void(int64_t step)> load = {};  // loads the weights of that checkpoint
  bool trained_elsewhere = false;               // an external checkpoint has only one, called step 0
};
// Throws BadInput for a missing run, a length that does not fit, or a sample or text that its kind lacks.
Subject open(const std::string& folder, const Options&);

}  // namespace poslab::view
