#include "experiment/attention_maps.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/lengths.h"

namespace poslab {
namespace {

AttentionMaps at_length(const State& state, int length, int layers) {
  const Batch batch = test_batch(state.config, length, 0, 1);
  const int T = batch.tokens.shape()[1];
  const PositionSample positions = test_draw(state.config, length, 0, 1, T, batch.tokens);
  AttentionMaps maps{length, T, batch.outputs, {}, {}};
  // A pass for each layer: a trace of all would hold them twice, which at length 500 is hundreds of megabytes.
  for (int layer = 0; layer < layers; ++layer)
    maps.add(attention_of(state, batch, positions, layer));
  return maps;
}

}  // namespace

void AttentionMaps::add(const Tensor& weights) {
  const std::vector<real> a = weights.values();
  const size_t one = size_t(slots) * size_t(slots);
  std::vector<float> maximum(one, 0);  // over h of a_hij
  for (size_t n = 0; n < a.size(); ++n) maximum[n % one] = std::max(maximum[n % one], float(a[n]));
  layers.push_back(std::move(maximum));
  heads.emplace_back(a.begin(), a.end());
}

Tensor attention_of(const State& state, const Batch& batch, const PositionSample& positions, int layer) {
  const Inference as_this_run(state.config);
  Trace trace({fmt::format("block{}.attention.weights", layer)});
  state.test_net()(batch.tokens, batch.tokens.shape()[1], {positions, {}, &trace});    // of all slots
  const Tensor& weights = trace.captured.begin()->second;
  return weights.reshape({weights.dim(1), weights.dim(2), weights.dim(3)});
}

std::vector<AttentionMaps> attention_maps(const State& state, const std::vector<int>& lengths) {
  check_lengths(state.config, lengths);
  std::vector<AttentionMaps> all;
  for (const int length : lengths) all.push_back(at_length(state, length, common_blocks(state.config, lengths)));
  return all;
}

}  // namespace poslab
