// A run whose attention is drawn, whatever its kind: a task's encoder, a language model, the encoder of a T5.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "lab/runs/values.h"
#include "nn/trace.h"

namespace poslab::view {

// What is asked for. Numbers count from 1.
struct Wanted {
  int length = 0;         // of the input, or tokens; 0: the trained one
  int sample = 1;         // which string, text or question of the test
  std::string text = {};  // of language models: in place of the test's
  std::vector<int> layers = {}, heads = {};
  std::vector<int64_t> steps = {};  // checkpoints; of these three, empty means all that there are
};

struct Subject {
  std::string folder, heading;  // heading: its text, or the task that the sample is of
  Values setting = {};
  int layers = 0, heads = 0;
  double matrices = 0;                    // at most so many tensors of (H, T, T) numbers are made besides the weights
  std::vector<std::string> symbols = {};  // of each slot, as it is shown
  int outputs = 0;                        // how many of the last slots are answer slots
  std::vector<int64_t> steps = {};        // of its checkpoints, in order
  std::string block = "block";            // what names of activations begin with, before the number of the layer
  std::function<void(int64_t step)> load = {};  // the weights of that checkpoint
  std::function<void(Trace&)> pass = {};        // over the sample, without gradients or dropout, on the CPU
};
// Throws BadInput: no such run, a length that has no room, a sample or a text that its kind does not have.
Subject open(const std::string& folder, const Kind&, const Wanted&);

}  // namespace poslab::view
