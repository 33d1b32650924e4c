#include "encodings/written_out.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "autograd/tape.h"

namespace poslab {

Tensor by_head(const Tensor& x) { return permute(x, {0, 2, 1, 3}); }

Tensor WrittenOut::mix(const Tensor& a, const Tensor& v, const Positions&) const { return matmul(a, v); }

// How many reals a matrix of logits may have. On a CPU it is to stay in the cache from one op to the next. A GPU is
// filled by all sequences, and without a gradient saves memory: 32 MiB.
int64_t most_logits(Device device) {
  if (device == Device::cpu) return 1 << 18;
  return recording() ? std::numeric_limits<int64_t>::max() : 1 << 23;
}

Tensor WrittenOut::attend(const Heads& in, const Tensor& v, const Positions& p, const Span& span) const {
  const int B = in.q.dim(0);
  const int64_t of_one = int64_t(in.q.dim(1)) * in.q.dim(2) * in.k.dim(1);
  const bool in_parts = p.sequences() == 1 && !span.key_lengths;
  const int together = in_parts ? int(std::clamp<int64_t>(most_logits(in.q.device()) / of_one, 1, B)) : B;
  std::vector<Tensor> results;
  for (int from = 0; from < B; from += together) {
    const auto part = [&](const Tensor& x) {
      return !x || x.dim(0) == 1 || together == B ? x : slice(x, 0, from, std::min(from + together, B));
    };
    const Heads some{part(in.q), part(in.k), part(in.x), part(in.x_keys), part(in.temperature)};
    results.push_back(by_head(mix(weights(some, p, span), by_head(part(v)), p)));
  }
  return results.size() == 1 ? results[0] : concat(results, 0);
}

Tensor WrittenOut::logits(const Heads&, const Positions&, const Span&) const {
  raise<Failure>("an encoding with weights of its own has no logits");
}

// s_ij times the temperature of query i
Tensor WholeLogits::logits(const Heads& in, const Positions& p, const Span& span) const {
  Tensor s = pairs(in, p, span);
  if (const Tensor& f = in.temperature) s = s * by_head(f.reshape({f.dim(0), f.dim(1), f.dim(2), 1}));
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
  const auto make = [&](Device device) {
    Tensor may = Tensor::full({sequences, 1, queries, keys}, 0);
    for (int64_t row = 0; row < int64_t(sequences) * queries; ++row) {
      int last = span.causal ? std::min(span.offset + int(row % queries) + 1, keys) : keys;
      if (span.key_lengths) last = std::min(last, span.key_lengths[row / queries]);
      const int first = span.window ? std::max(0, span.offset + int(row % queries) + 1 - span.window) : 0;
      std::fill_n(may.data() + row * keys + first, std::max(0, last - first), real(1));
    }
    return may.to(device);
  };
  if (span.key_lengths) return make(in.q.device());
  return p.once(fmt::format("seen {} {} {} {} {}", queries, keys, span.causal, span.offset, span.window),
                in.q.device(), make);
}

}  // namespace poslab
