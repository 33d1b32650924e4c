#include "encodings/explicit_weights.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/argument_checks.h"
#include "autograd/slice_in_place.h"
#include "autograd/tape.h"

namespace poslab {

Tensor by_head(const Tensor& x) { return permute(x, {0, 2, 1, 3}); }

Tensor ExplicitWeights::mix(const Tensor& a, const Tensor& v, const Positions&) const { return matmul(a, v); }

// How many reals a matrix of logits may have. On a CPU it should stay in the cache from one op to the next. A GPU takes
// all sequences at once to fill its cores, but without a gradient at most 32 MiB, to save memory.
int64_t most_logits(Device device) {
  if (device == Device::cpu) return 1 << 18;
  return recording() ? std::numeric_limits<int64_t>::max() : 1 << 23;
}

template <class Work>
Tensor ExplicitWeights::in_parts(const Heads& in, const Positions& p, const Span& span, const Work& work) const {
  const int B = in.q.dim(0);
  const int64_t of_one = int64_t(in.q.dim(1)) * in.q.dim(2) * in.k.dim(1);
  const bool in_parts = p.sequences() == 1 && !span.key_lengths;
  const int together = in_parts ? int(std::clamp<int64_t>(most_logits(in.q.device()) / of_one, 1, B)) : B;
  std::vector<Tensor> results;
  for (int from = 0; from < B; from += together) {
    const auto part = [&](const Tensor& x) {
      return !x || x.dim(0) == 1 || together == B ? x : slice_in_place(x, from, std::min(from + together, B));
    };
    results.push_back(work(Heads{part(in.q), part(in.k), part(in.x), part(in.x_keys), part(in.temperature)}, part));
  }
  return results.size() == 1 ? results[0] : concat(results, 0);
}

Tensor ExplicitWeights::attend(const Heads& in, const Tensor& v, const Positions& p, const Span& span) const {
  return in_parts(in, p, span, [&](const Heads& some, const auto& part) {
    return by_head(mix(weights(some, p, span), by_head(part(v)), p));
  });
}

namespace {

// Weights and logits (absent, or -infinity where masked) -> (B, H, Tq, statistics_per_row)
Tensor row_statistics(const Tensor& weights, const Tensor& logits) {
  const Tensor a = weights.to(Device::cpu), s = logits ? logits.to(Device::cpu) : logits;
  const int keys = a.dim(3);
  Tensor y({a.dim(0), a.dim(1), a.dim(2), statistics_per_row});
  for (int64_t row = 0; row < y.rows(); ++row) {
    const real *ai = a.data() + row * keys, *si = s ? s.data() + row * keys : nullptr;
    const double none = s ? 0 : std::numeric_limits<double>::quiet_NaN();
    double most = 0, entropy = 0, highest = -std::numeric_limits<double>::infinity(), sum = 0, squares = 0, count = 0;
    for (int j = 0; j < keys; ++j) {
      most = std::max(most, double(ai[j]));
      if (ai[j] != 0) entropy -= double(ai[j]) * std::log(double(ai[j]));
      if (!si || si[j] == -std::numeric_limits<real>::infinity()) continue;
      highest = std::max(highest, double(si[j])), sum += double(si[j]), count += 1;
    }
    const double mean = count > 0 ? sum / count : none;
    for (int j = 0; si && j < keys; ++j)
      if (si[j] != -std::numeric_limits<real>::infinity()) squares += std::pow(double(si[j]) - mean, 2);
    const double all[statistics_per_row] = {most, entropy, count > 0 ? highest : none, mean,
                                            count > 0 ? squares / count : none};
    std::copy_n(all, statistics_per_row, y.data() + row * statistics_per_row);
  }
  return y.to(weights.device());
}

}  // namespace

Tensor ExplicitWeights::statistics(const Heads& in, const Positions& p, const Span& span) const {
  return in_parts(in, p, span, [&](const Heads& some, const auto&) {
    return row_statistics(weights(some, p, span), has_logits() ? logits(some, p, span) : Tensor());
  });
}

Tensor ExplicitWeights::logits(const Heads&, const Positions&, const Span&) const {
  bad_input("an encoding with weights of its own has no logits; ask for its weights or its result");
}

Tensor at_temperature(const Tensor& s, const Heads& in) {
  const Tensor& f = in.temperature;
  return f ? s * by_head(f.reshape({f.dim(0), f.dim(1), f.dim(2), 1})) : s;
}

Tensor WholeLogits::logits(const Heads& in, const Positions& p, const Span& span) const {
  const Tensor s = at_temperature(pairs(in, p, span), in);
  return span.causal || span.key_lengths || span.window ? s + log(seen(in, p, span)) : s;          // ln 0: masked
}

Tensor WholeLogits::weights(const Heads& in, const Positions& p, const Span& span) const {
  return softmax(logits(in, p, span));
}

Tensor products(const Heads& in) {
  return matmul(by_head(in.q * (1 / std::sqrt(double(in.q.dim(3))))), permute(in.k, {0, 2, 3, 1}));
}

Tensor seen(const Heads& in, const Positions& p, const Span& span) {
  const int queries = in.q.dim(1), keys = in.k.dim(1), sequences = span.key_lengths ? in.q.dim(0) : 1;
  check_key_lengths(span.key_lengths, sequences, keys);
  const auto make = [&](Device device) {
    Tensor may = Tensor::full({sequences, 1, queries, keys}, 0);
    for (int64_t row = 0; row < int64_t(sequences) * queries; ++row) {
      const int slot = p.padded() ? p.kept() - 1 : span.offset + int(row % queries);
      int end = span.causal ? std::min(slot + 1, keys) : keys;
      if (span.key_lengths) end = std::min(end, span.key_lengths[row / queries]);
      const int first = span.window ? std::max(0, slot + 1 - span.window) : 0;
      std::fill_n(may.data() + row * keys + first, std::max(0, end - first), real(1));
    }
    return may.to(device);
  };
  if (span.key_lengths) return make(in.q.device());
  return p.once(fmt::format("seen {} {} {} {} {}", queries, keys, span.causal, span.offset, span.window),
                in.q.device(), make);
}

}  // namespace poslab
