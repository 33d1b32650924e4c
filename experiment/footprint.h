// Memory and time of a run, from its sizes alone, before anything is made. An estimate: the terms that grow, with the
// factors that tests/experiment/footprint.cpp holds against the memory that is really used.
#pragma once
#include <string>

#include "experiment/config.h"
#include "nn/decoder.h"

namespace poslab {

struct Footprint {
  double parameters = 0;             // numbers that are learned
  double state = 0;                  // bytes of weights, gradients and Adam's two moments
  double step = 0, test = 0;         // bytes besides: of a step, and of a sub-batch of tests, on the longest strings
  std::string of_step, of_test;      // the options that these grow with, as a message names them
  double bytes() const { return state + (step > test ? step : test); }
};
struct Work { double step, test; };  // FLOPs of a step, mean over the training lengths, and of the whole test

// The cost of a computation with a trained model, besides the model itself: peak bytes, and FLOPs.
struct Taken {
  double bytes = 0, flops = 0;
  void then(const Taken& next);  // one after the other
  Taken times(double n) const { return {bytes, n * flops}; }
};
// Inputs of one length that go through a trained model without gradients. Tests, alignments, inspections and answers
// consist of such passes.
struct Forward {
  double inputs = 1;  // at once
  double slots = 0;   // of each
  double bytes = 0;   // of all of them at once
  double flops = 0;   // of one of them
  double logits = 0;  // FLOPs of its logits alone: statistics of attention are made of them again
  double rows = 0;    // of its weights, in all layers and heads
  double layers = 0, heads = 0, d_model = 0;
  Taken of(double all) const { return {bytes, all * flops}; }  // all: inputs, one after the other or at once
  Taken seen(double all) const;  // the same, with statistics of attention (experiment/dispersion.h)
};

// The sizes of a run, as its kind knows them (Kind::load); all kinds' footprint and work are made of these.
struct Load {
  struct Test { double inputs; Forward each; };
  double parameters, kept;      // learned numbers, and numbers that a step keeps for its backward pass
  double flops;                 // of a step, forward; the backward pass takes twice as many
  std::vector<Test> tests;      // of each length
  std::string of_step, of_test;
};
// Of a configuration that fits together (check).
Footprint footprint(const RunSpec&);
Footprint footprint(const Load&);   // without the other kinds, for a page
Work work(const RunSpec&);
Load string_load(const RunSpec&);
// Of so many at most at once; of a test the last layer is of answer slots alone.
Forward string_forward(const RunSpec&, int length, double inputs, bool all_slots = false);

// Blocks of a decoder, or of the encoder or the decoder of a T5: their products, and what of them is kept.
struct Stack {
  double layers, heads, d_model;
  double query_width, key_width;  // of queries; of keys and of values; all heads together
  double d_ff;
  double matrices = 0, of_slots = 0, held = 0;  // that the scheme makes in each layer (encodings/encoding.h)
  bool gated = true;                 // three matrices in the feed-forward network, not two
  double parameters() const;
  double flops(double tokens, double keys) const;              // forward; each token sees so many keys
  // Numbers that a pass over B sequences of T tokens keeps for the backward pass, or holds at once without one.
  double activations(double B, double T, bool trains) const;
  Forward forward(double B, double T, double keys) const;  // B sequences at once, each token sees so many keys
};
Stack stack(const DecoderSpec&);
double parameters(const DecoderSpec&);   // its embedding and its head included

}  // namespace poslab
