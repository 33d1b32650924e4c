#include "experiment/calibrate.h"

#include <algorithm>
#include <cmath>

#include "experiment/attention_maps.h"
#include "experiment/build.h"
#include "experiment/evaluate.h"
#include "experiment/lengths.h"

namespace poslab {

SlotBiases kept(const std::vector<double>& a, int T, bool causal, const Calibrating& how) {
  SlotBiases all;
  double sum = 0, squares = 0;
  for (int d = 1 - T; d <= (causal ? 0 : T - 1); ++d) {
    double along = 0;
    for (int i = std::max(0, -d); i < std::min(T, T - d); ++i) along += a[size_t(i) * size_t(T) + size_t(i + d)];
    if (along == 0) continue;
    all[d] = how.sum ? along : along / (T - std::abs(d));
    sum += all[d], squares += all[d] * all[d];
  }
  const double n = double(all.size()), mean = sum / n, variance = squares / n - mean * mean;
  const double least = mean + how.deviations * std::sqrt(std::max(0., variance));
  std::erase_if(all, [&](const auto& one) { return one.second < least - 1e-12 * std::abs(mean); });
  return all;
}

namespace {

int length_of(const RunSpec& c, const Calibrating& how) { return how.length ? how.length : c.whole("train_length"); }

}  // namespace

// Each layer and string takes a pass; the weights are added up in double precision, then split by head.
Taken calibration_takes(const RunSpec& c, const Calibrating& how) {
  check_lengths(c, {length_of(c, how)}, "calibrate");
  const Forward f = string_forward(c, length_of(c, how), 1, true);
  const double one = f.slots * f.slots;
  return {f.bytes + f.heads * one * (3 * sizeof(real) + sizeof(double)) + one * sizeof(double),
          f.layers * how.samples * f.flops};
}

Calibration calibrate(const State& state, const Calibrating& how) {
  const RunSpec& c = state.config;
  const int length = length_of(c, how);
  check_lengths(c, {length}, "calibrate");
  Calibration made{c.whole("layers"), c.whole("heads"), {}};
  const int T = test_batch(c, length, 0, 1).tokens.shape()[1];  // some tasks draw shorter strings
  for (int layer = 0; layer < c.whole("layers"); ++layer) {
    std::vector<double> mean;                                                    // (H, T, T)
    for (int n = 0; n < how.samples; ++n) {
      const Batch batch = test_batch(c, length, n, 1);
      if (const int slots = batch.tokens.shape()[1]; slots != T)
        bad_input(
            "calibrate: strings 1 and {} of length {} have {} and {} slots, but a mean needs equal numbers; take a "
            "length at which {} draws strings of one length",
            n + 1, length, T, slots, c["task"]);
      const Tensor a = attention_of(state, batch, test_draw(c, length, n, 1, T, batch.tokens), layer);
      const std::vector<real> values = a.values();
      mean.resize(values.size());
      for (size_t e = 0; e < values.size(); ++e) mean[e] += double(values[e]) / how.samples;
    }
    const auto head = mean.begin();
    for (long h = 0; h < c.whole("heads"); ++h)
      made.of_heads.push_back(kept({head + h * T * T, head + (h + 1) * T * T}, T, c.on("causal"), how));
  }
  if (how.last_layer)
    for (size_t n = 0; n < made.of_heads.size(); ++n)
      made.of_heads[n] = made.of_heads[made.of_heads.size() - size_t(c.whole("heads")) + n % size_t(c.whole("heads"))];
  return made;
}

}  // namespace poslab
