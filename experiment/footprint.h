// Memory and time of a run, from its sizes alone, before anything is made: an estimate by the terms that grow, with
// factors that tests/experiment/footprint.cpp compares with measured memory.
#pragma once
#include <functional>
#include <string>

#include "experiment/config.h"
#include "nn/decoder.h"

namespace poslab {

struct Footprint {
  double parameters = 0;             // learned numbers
  double state = 0;                  // bytes of weights, gradients and Adam's two moments
  double step = 0, test = 0;         // other bytes: of a step, and of a sub-batch of tests, on the longest strings
  std::string of_step, of_test;      // the options that these grow with, for messages
  double bytes() const { return state + (step > test ? step : test); }
};
struct Work { double step, test; };  // FLOPs of a step, the mean over the training lengths, and of the whole test

// The cost of a computation with a trained model, besides the model itself: peak bytes, and FLOPs.
struct Taken {
  double bytes = 0, flops = 0;
  void then(const Taken& next);  // adds a computation that runs after this one
  Taken times(double n) const { return {bytes, n * flops}; }
};
// Passes of inputs of one length through a trained model without gradients. Tests, alignments, inspections and answers
// consist of them.
struct Forward {
  double inputs = 1;  // inputs in memory at once
  double slots = 0;   // slots of each
  double bytes = 0;   // bytes of all at once
  double flops = 0;   // FLOPs of one
  double logits = 0;  // FLOPs of its logits alone, which statistics of attention compute again
  double rows = 0;    // rows of its weights, in all layers and heads
  double layers = 0, heads = 0, d_model = 0;
  Taken of(double all) const { return {bytes, all * flops}; }  // all: number of inputs, in turn or at once
  Taken seen(double all) const;  // the same, with statistics of attention (experiment/dispersion.h)
};

// The sizes of a run, from its kind (Kind::load), for the footprint and work of all kinds.
struct Load {
  struct Test { double inputs = 0; Forward each; };
  double parameters, kept;      // learned numbers, and numbers that a step keeps for its backward pass
  double flops;                 // FLOPs of a step, forward; the backward pass takes twice as many
  std::vector<Test> tests;      // the test of each length
  std::string of_step, of_test;
};
// For a configuration that passes check().
Footprint footprint(const RunSpec&);
Footprint footprint(const Load&);   // without linking other kinds, for the page of tools/web
Work work(const RunSpec&);
Load string_load(const RunSpec&);
// The load of a run that is trained on all lengths to train_length, and tested at eval_lengths. passes: how many passes
// a test string takes; forward: the pass of this many strings of one length.
Load load_of_lengths(const RunSpec&, double parameters, double kept, double passes,
                     const std::function<Forward(int length, double strings)>& forward);
// At most `inputs` strings at once; in a test the last layer computes only the answer slots.
Forward string_forward(const RunSpec&, int length, double inputs, bool all_slots = false);

// Blocks of a decoder, or of a T5's encoder or decoder: their products, and their kept results.
struct Stack {
  double layers = 0, heads = 0, d_model = 0;
  double query_width = 0, key_width = 0;  // width of queries, and of keys and values; all heads together
  double d_ff = 0;
  // matrices of all pairs that the scheme makes in each layer (encodings/encoding.h)
  double matrices = 0, of_slots = 0, held = 0;
  bool gated = true;                 // three matrices in the feed-forward network, not two
  double parameters() const;
  double flops(double tokens, double keys) const;              // forward products; each token sees this many keys
  // Numbers that a pass over B sequences of T tokens keeps for the backward pass, or holds at once without one.
  double activations(double B, double T, bool trains) const;
  Forward forward(double B, double T, double keys) const;  // for B sequences, where a token sees this many keys
};
Stack stack(const DecoderSpec&);
double parameters(const DecoderSpec&);   // with its embedding and its head

}  // namespace poslab
