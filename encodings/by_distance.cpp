#include "encodings/by_distance.h"

#include <cmath>
#include <limits>

#include "autograd/encoder_block.h"

namespace poslab {

Scores ByDistance::scores(const Heads& in, const Positions& p) const {
  Scores s = Encoding::scores(in, p);
  rows(s, p, in.q.device());
  s.pairs = p.distances().last_rows(in.q.dim(1));
  return s;
}

std::optional<LayerTerms> ByDistance::terms(const Positions& p, const LayerShape& n) const {
  Scores s{.scale = real(1 / std::sqrt(double(n.head_dim)))};
  if (p.distances().pairs) return std::nullopt;
  rows(s, p, n.device);
  if (s.gain) return std::nullopt;
  return LayerTerms{.scale = s.scale, .bias = s.bias};
}

Tensor distance_table(const Positions& p, const std::string& name, Device device, int columns,
                    const std::function<double(double, int)>& f) {
  return p.once(fmt::format("{} {}", name, columns), device, [&](Device there) {
    std::vector<double> values;
    const std::vector<double> distances = p.distances().rows(there);
    for (const double d : distances)
      for (int c = 0; c < columns; ++c) values.push_back(f(d, c));
    return Tensor::from({int(distances.size()), columns}, values).to(there);
  });
}

std::vector<double> alibi_slopes(int heads) {
  const auto geometric = [](int n, int h) { return std::exp2(-8.0 * h / n); };
  int below = 1;
  while (2 * below <= heads) below *= 2;
  std::vector<double> m;
  for (int h = 1; h <= below; ++h) m.push_back(geometric(below, h));
  for (int h = 1; int(m.size()) < heads; h += 2) m.push_back(geometric(2 * below, h));
  return m;
}

// The sign is read at the last query of the first sequence: a policy that learns signs learns one for each head.
Tensor keep_hidden(const Tensor& bias, const Tensor& temperature, double hidden) {
  if (!temperature || temperature.dim(2) == 1) return bias;
  const int queries = temperature.dim(1);
  const Tensor last = slice(slice(temperature, 0, 0, 1), 1, queries - 1, queries).reshape({1, temperature.dim(2)});
  const Tensor is_hidden = 1 - greater_equal(bias, number(hidden / 1000, bias));     // (N, H)
  const Tensor is_negative = 1 - greater_equal(last, number(0, last));               // (1, H)
  return bias * (1 - 2 * (is_hidden * is_negative));
}

Tensor show_unseen(const Tensor& logits, double hidden) {
  const double infinity = std::numeric_limits<double>::infinity();
  return where(greater_equal(logits, number(hidden / 1000, logits)), logits, number(-infinity, logits));
}

}  // namespace poslab
