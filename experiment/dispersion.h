// The dispersion of a model's attention at a length: measured on the strings or texts of its test (on other ones, to
// choose a temperature), row by row of the weights (spec C.2). Rows are streamed over their keys, so that many thousand
// tokens fit into memory.
#pragma once
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "encodings/temperature.h"
#include "experiment/footprint.h"
#include "experiment/state.h"

namespace poslab {

// One way to run a model: the inputs, the temperature, and the observer.
struct Look {
  int length = 0;                                          // length of the input, or of the text in tokens
  std::optional<Chosen<TemperaturePolicy>> temperature{};  // absent: the model's own
  std::vector<std::string> names{};                        // names of activations, patterns of a Trace
  int samples = 0;                                         // 0: the model's own number
  bool one_by_one = false;                                 // only one sequence in a pass
  int queries = 0;  // the number of last queries with logits
  Purpose strings = Purpose::test_tokens;  // the test's strings; align_tokens: others
  std::function<void(const Trace&)> done{};  // after each pass
  // Calls done() with the trace of one pass. A stop throws Stopped, within the pass if stoppable.
  void observe(const std::function<void(Trace*)>& pass, bool stoppable = true) const;
};

// A model with its own inputs for inspections: a run of a task, a language model, the encoder of a T5.
struct Probed {
  int layers, heads;
  bool causal;
  std::string prefix = {};               // prefix of the names of its blocks, such as "encoder."
  std::function<int(int length)> keys;   // the number of keys that its last query sees
  std::function<void(const Look&)> run;  // without gradients; throws Stopped
  std::function<Forward(int length)> forward = {};  // a pass over its own inputs
  int inputs = 0;                                   // how many of each length
  std::string block(int layer) const;    // "encoder.block2"
};
// The strings and positions of range evaluation, the first `samples` of them at each length.
Probed probed(const State&, int samples);

// Means over rows of weights. The means of logits are NaN for a scheme without logits.
struct RowMeans {
  double largest_weight = 0, entropy = 0;            // entropy in nats
  double largest_logit = 0, mean = 0, variance = 0;  // statistics of the row's logits
  double rows = 0;                                   // their number
  void add(const RowMeans&);
};

// By layer and head. In a causal model only the last eighth of the queries count, because earlier ones see fewer keys;
// rows without keys are left out.
struct Dispersion {
  int layers = 0, heads = 0, keys = 0;
  std::vector<RowMeans> all;  // layer 0's heads, then layer 1's, ...
  const RowMeans& of(int layer, int head) const { return all[size_t(layer * heads + head)]; }
  RowMeans of_layer(int layer) const;
  RowMeans of_model() const;
};
Dispersion dispersion(const Probed&, int length, const std::optional<Chosen<TemperaturePolicy>>& = {},
                      Purpose strings = Purpose::test_tokens);

// The logits of each row in layer 0, minus their mean, sorted and then averaged over rows and heads: quantiles at (k +
// 1/2) / points. Reads at most `samples` sequences, and as many of their last queries as fit 64 MiB.
std::vector<double> sorted_logits(const Probed&, int length, int points, int samples);

// The whole dispersion, for `poslab inspect`.
struct Dispersed {
  std::vector<int> lengths;                 // from the shortest requested length to the longest
  std::vector<Dispersion> at;               // at each of these
  std::vector<int> shown;                   // the requested ones
  std::vector<std::vector<double>> sorted;  // sorted_logits() at each of `shown`
};
Dispersed dispersed(const Probed&, const std::vector<int>& lengths, int samples);
Taken dispersed_take(const Probed&, const std::vector<int>& lengths);

// A scheme's addition to the logits of the middle query (causal: the last), by head and key, with the current
// parameters: (H, T), minus the mean over visible keys; NaN for hidden ones. Empty if it depends on content alone.
struct Biases {
  int query = 0, keys = 0, heads = 0;
  std::vector<double> of;
};
Biases biases(const Encoding&, const ModelShape&, const Positions&, Device = Device::cpu);

// The inverse of the standard normal distribution, 0 < p < 1, by bisection of erfc; to 1e-12.
double normal_quantile(double p);

}  // namespace poslab
