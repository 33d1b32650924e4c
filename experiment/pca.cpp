#include "experiment/pca.h"

#include <fmt/format.h>

#include <algorithm>

#include "autograd/tape.h"
#include "core/error.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/lengths.h"
#include "tasks/task.h"

namespace poslab {
namespace {

std::string output_of(int layer) { return fmt::format("block{}.out", layer); }

// For strings from .. from + samples - 1, at their answer slots.
Activations activations(const State& state, int length, int layers, int from, int samples) {
  const RunSpec& c = state.config;
  const int cut = sub_batch(slots(c, length)), C = c.whole("d_model");
  std::vector<std::string> names;
  for (int layer = 0; layer < layers; ++layer) names.push_back(output_of(layer));
  Activations all{0, std::vector<std::vector<double>>(size_t(layers))};
  for (int first = from; first < from + samples; first += cut) {
    const int count = std::min(cut, from + samples - first);
    const Batch batch = test_batch(c, length, first, count);
    const int T = batch.tokens.shape()[1], O = batch.outputs;
    const PositionSample positions = test_draw(c, length, first, count, T, batch.tokens);
    Trace trace(names);
    const Tensor logits = state.test_net()(batch.tokens, T, {positions, {}, &trace});
    const Score s = score(slice(logits, 1, T - O, T).values().data(), logits.dim(-1), batch);
    all.accuracy += double(count) / samples * double(s.correct) / double(s.scored);
    for (int layer = 0; layer < layers; ++layer) {
      const std::vector<real> x = trace.captured.at(output_of(layer)).values();  // (count, T, C)
      for (int b = 0; b < count; ++b)
        all.layers[size_t(layer)].insert(all.layers[size_t(layer)].end(), x.begin() + (int64_t(b + 1) * T - O) * C,
                                         x.begin() + int64_t(b + 1) * T * C);
    }
  }
  return all;
}

// others: other strings of the first length
PcaLayer layer_of(const std::vector<Activations>& all, const Activations& others, size_t layer, int C) {
  PcaLayer made{principal(all[0].layers[layer], C), {}};
  for (const Activations& a : all) made.clouds.push_back({project(made.map, a.layers[layer]), 0});
  const std::vector<double>& home = made.clouds[0].at;
  for (Cloud& cloud : made.clouds) cloud.outside = share_outside(cloud.at, home);
  made.clouds[0].outside = share_outside(project(made.map, others.layers[layer]), home);
  return made;
}

}  // namespace

Pca planes(const std::vector<int>& lengths, int samples, const std::vector<Activations>& all, const Activations& others,
           int C) {
  Pca made{lengths, {}, samples, {}};
  for (const Activations& a : all) made.accuracy.push_back(a.accuracy);
  for (size_t layer = 0; layer < others.layers.size(); ++layer) made.layers.push_back(layer_of(all, others, layer, C));
  return made;
}

Pca pca(const State& state, const std::vector<int>& lengths, int samples) {
  const RunSpec& c = state.config;
  check_lengths(c, lengths);
  if (c.whole("d_model") < 2) bad_input("inspect: d_model = {} has no plane; use 2 or more", c.whole("d_model"));
  // Sub-batches draw from 16,384 separate streams (test_draw); half are for `others`.
  if (samples > 8000) bad_input("inspect: {} strings at each length; ask for at most 8000", samples);
  if (const int points = samples * task(c["task"]).output_length(lengths[0]); samples < 1 || points < 2)
    bad_input("inspect: {} strings of length {} give {} points; ask for more samples", samples, lengths[0], points);
  const Inference as_this_run(c);
  const int layers = common_blocks(c, lengths);
  std::vector<Activations> all;
  for (const int length : lengths) all.push_back(activations(state, length, layers, 0, samples));
  return planes(lengths, samples, all, activations(state, lengths[0], layers, samples, samples), c.whole("d_model"));
}

}  // namespace poslab
