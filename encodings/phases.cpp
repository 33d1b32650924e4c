#include "encodings/phases.h"

#include <fmt/ranges.h>

#include <cmath>
#include <numbers>

namespace poslab {

Scores Phased::scores(const Heads& in, const Positions& p) const {
  const Tensor a = angles(in, p), cosine = cos(a), sine = sin(a);
  const int queries = in.q.dim(1);
  Scores s = Encoding::scores(in, p);
  s.pieces[0].q = rotated(in.q, last_slots(cosine, queries), last_slots(sine, queries));
  s.pieces[0].k = rotated(in.k, cosine, sine);
  return s;
}

Tensor rotated(const Tensor& x, const Tensor& cosine, const Tensor& sine) {
  const int D = x.dim(3);
  const Tensor a = slice(x, 3, 0, D / 2), b = slice(x, 3, D / 2, D);
  return concat({a * cosine - b * sine, a * sine + b * cosine}, 3);
}

// With p f = rest + whole turns: p f s = rest s + turns (s - 1), up to whole turns.
Tensor stretched_angles(const Positions& p, const std::string& scheme, const std::vector<double>& f, const Tensor& s) {
  const auto part = [&](const char* name, bool rest) {
    return p.once(fmt::format("{} of {}", name, fmt::join(f, " ")), s.device(), [&](Device device) {
      std::vector<double> angle;
      for (double position : p.tokens(scheme))
        for (double frequency : f) {
          const double all = position * frequency, less = std::remainder(all, 2 * std::numbers::pi);
          angle.push_back(rest ? less : all - less);
        }
      return Tensor::from({p.sequences(), p.time(), 1, int(f.size())}, angle).to(device);
    });
  };
  return part("angles", true) * s + part("whole turns", false) * (s - 1);
}

Tensor last_slots(const Tensor& x, int queries) {
  return queries == x.dim(1) ? x : slice(x, 1, x.dim(1) - queries, x.dim(1));
}

Tensor delay(const Tensor& x, int by) {
  Shape before = x.shape();
  before[1] = std::min(by, x.dim(1));
  const Tensor zeros = Tensor::full(before, 0, x.device());
  return by >= x.dim(1) ? zeros : concat({zeros, slice(x, 1, 0, x.dim(1) - by)}, 1);
}

Tensor causal_conv(const Tensor& x, const Tensor& w) {
  Tensor y = x * slice(w, 0, 0, 1);
  for (int n = 1; n < std::min(w.dim(0), x.dim(1)); ++n) y = y + delay(x, n) * slice(w, 0, n, n + 1);
  return y;
}

Tensor unit(const Tensor& x) {
  const double size = x.dim(-1);
  return rms_norm(x, Tensor::full({x.dim(-1)}, real(1 / std::sqrt(size)), x.device()), 1e-6 / size);
}

Tensor constant(const Positions& p, const std::string& name, Device device, const Shape& shape,
                const std::vector<double>& values) {
  return p.once(name, device, [&](Device there) { return Tensor::from(shape, values).to(there); });
}

}  // namespace poslab
