// A trained model of any kind as pages draw it: one input of its test, and its attention there; and the figures of
// `poslab inspect`.
#pragma once
#include "experiment/attention_maps.h"
#include "experiment/coverage.h"
#include "experiment/dispersion.h"
#include "experiment/pca.h"

namespace poslab {

struct SampleOptions {
  int length = 0;          // of the input, or tokens; 0: the longest trained one
  int number = 1;          // which string, text or question of the test, from 1
  std::string text = {};   // of kinds that read texts: in place of the test's
};
struct Sample {
  std::string of = {};                     // the task that it is of, where a run learns several; else ""
  int layers = 0, heads = 0;
  double matrices = 0;                     // at most so many tensors of (H, T, T) numbers are made besides the weights
  std::vector<std::string> symbols = {};   // of each slot, as shown
  int outputs = 0;                         // how many of the last slots are answer slots
  std::string block = "block";             // names of activations begin with it, before the number of the layer
  std::string slots = {};                  // a page's description of the slots
  std::function<void(Trace&)> pass = {};   // over it, without gradients or dropout; the learner must outlive it
};
// Tensors of (H, T, T) numbers that a layer with this encoding makes.
double matrices_of(const Chosen<Scheme>&, const ModelShape&);

struct Inside {
  Dispersed dispersed;
  Biases biases;
  Pca pca{};               // this and the members below: not of an encoder-decoder
  std::vector<AttentionMaps> maps{};
  Coverage coverage{};
};
struct Inspection {
  Taken takes;        // besides the model, with its results
  double arrays = 0;  // bytes of its maps, one for each layer, as files have them
  std::function<Inside()> look;
};
// That of the first two of these at the lengths, and with them planes of so many points of each input at each length,
// and maps at lengths of their own; without look.
Inspection inspection(const Probed&, const std::vector<int>& lengths, const std::vector<int>& points = {},
                      const std::vector<int>& maps = {});
constexpr int most_of_biases = 1024;       // slots whose biases are drawn

}  // namespace poslab
