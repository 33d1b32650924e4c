// A trained model of any kind for pages: its attention on one input of its test, and the figures of `poslab inspect`.
#pragma once
#include "experiment/attention_maps.h"
#include "experiment/coverage.h"
#include "experiment/dispersion.h"
#include "experiment/pca.h"

namespace poslab {

struct SampleOptions {
  int length = 0;          // length of the input, or tokens; 0: the longest trained length
  int number = 1;          // index of the string, text or question of the test, from 1
  std::string text = {};   // for kinds that read texts: in place of the test's
};
struct Sample {
  std::string of = {};                     // its task, if a run learns several; else ""
  int layers = 0, heads = 0;
  double matrices = 0;                     // the most (H, T, T) tensors that exist at once, besides the weights
  std::vector<std::string> symbols = {};   // one for each slot, in readable form
  int outputs = 0;                         // the number of last slots that are answer slots
  std::string block = "block";             // prefix of the names of activations, before the number of the layer
  std::string slots = {};                  // a page's description of the slots
  // a pass over the input, without gradients or dropout; the learner must outlive it
  std::function<void(Trace&)> pass = {};
};
// The number of (H, T, T) tensors that a layer with this encoding makes.
double matrices_of(const Chosen<Scheme>&, const ModelShape&);

struct Inside {
  Dispersed dispersed;
  Biases biases;
  Pca pca{};               // this member and those below are absent for an encoder-decoder
  std::vector<AttentionMaps> maps{};
  Coverage coverage{};
};
struct Inspection {
  Taken takes;        // memory and time besides the model, with its results
  double arrays = 0;  // bytes of its maps in files, one for each layer
  std::function<Inside()> look;
};
// An inspection with its costs: dispersion and biases at the lengths, planes of `points` points of each input at each
// length, and attention maps at the lengths `maps`.
Inspection inspection(const Probed&, const std::vector<int>& lengths, std::function<Inside()> look,
                      const std::vector<int>& points = {}, const std::vector<int>& maps = {});
constexpr int most_of_biases = 1024;       // the most slots for which biases are drawn

}  // namespace poslab
