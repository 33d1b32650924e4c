// What a run will take, from its sizes alone, before anything of it is made. An estimate: the terms that grow, with the
// factors that tests/footprint.cpp holds against the memory that is really used.
#pragma once
#include <string>

#include "experiment/config.h"

namespace poslab {

struct Footprint {
  double parameters = 0;             // numbers that are learned
  double state = 0;                  // bytes of weights, gradients and Adam's two moments
  double step = 0, test = 0;         // bytes besides: of a step, and of a sub-batch of tests, on the longest strings
  std::string of_step, of_test;      // the options that these grow with, as a message names them
  double bytes() const { return state + (step > test ? step : test); }
};
struct Work { double step, test; };  // FLOPs of a step, mean over the training lengths, and of the whole test

// Of a configuration that fits together (check), of its kind (experiment/kind.cpp).
Footprint footprint(const Choices&);
Work work(const Choices&);
// Of strings.
Footprint string_footprint(const Choices&);
Work string_work(const Choices&);

// Blocks of a decoder, or of the encoder or the decoder of a T5: their products, and what of them is kept.
struct Stack {
  double layers, heads, d_model;
  double key_width;                  // of keys and of values, all heads together
  double d_ff;
  double matrices = 0;               // (heads, T, T) that the scheme makes in each layer
  bool gated = true;                 // three matrices in the feed-forward network, not two
  double parameters() const;
  double flops(double tokens, double keys) const;              // forward; each token sees so many keys
  // Numbers that a pass over B sequences of T tokens keeps for the backward pass, or holds at once without one.
  double activations(double B, double T, bool trains) const;
};

}  // namespace poslab
