// Step 13: ReRoPE, and windows. encodings/rerope.cpp, encodings/windows.cpp
#include "schemes.h"

using namespace poslab;
using namespace course;

namespace {

constexpr int T = 7, D = 8;

// Logits of one head whose pair (i, j) is rotated by rho(i, j); -infinity where rho says so.
Values by_rho(const Values& q, const Values& k, const std::function<double(int i, int j)>& rho) {
  Values s;
  for (int i = 0; i < T; ++i)
    for (int j = 0; j < T; ++j) {
      const double r = rho(i, j);
      double sum = 0;
      for (int m = 0; m < D / 2; ++m) {
        const double a = r * std::pow(10000., -2. * m / D), c = std::cos(a), n = std::sin(a);
        const double q0 = q[size_t(i * D + 2 * m)], q1 = q[size_t(i * D + 2 * m + 1)];
        const double k0 = k[size_t(j * D + 2 * m)], k1 = k[size_t(j * D + 2 * m + 1)];
        sum += (q0 * c - q1 * n) * k0 + (q0 * n + q1 * c) * k1;
      }
      s.push_back(std::isinf(r) ? -INFINITY : sum / std::sqrt(double(D)));
    }
  return s;
}
double leaky(double r, double w, double k) {
  const double far = k == 0 ? w : w + (std::abs(r) - w) / k;
  return std::abs(r) < w ? r : r < 0 ? -far : far;
}
struct Heads13 {
  Values q = some(T * D, 1), k = some(T * D, 2);
  Positions p = Positions::of_tokens(1, {0, 1, 2, 3, 4, 5, 6});
  Tensor logits(const std::string& spelling, bool causal = false) const {
    const Layer layer(spelling, {.layers = 1, .heads = 1, .d_model = D, .causal = causal});
    return layer.logits(q, k, p);
  }
};

}  // namespace

CASE("ReRoPE: distances end at the window") {
  const Heads13 x;
  const double w = 3;
  const auto by = [&](const std::function<double(double)>& f) {
    return by_rho(x.q, x.k, [&](int i, int j) { return f(i - j); });
  };
  check("rho = r if |r| < w, else w, with the sign of r;  r = p_i - p_j, w = 3", x.logits("rerope:window=3"),
        by([&](double r) { return leaky(r, w, 0); }),
        {{"the window is one slot too narrow: |r| < w is near", by([&](double r) {
            return std::abs(r) < w - 1 ? r : r < 0 ? -w : w;
          })},
         {"far distances end at w - 1", by([&](double r) { return std::abs(r) < w ? r
                                                                  : r < 0         ? 1 - w
                                                                                  : w - 1; })},
         {"far pairs are not rotated at all: rho = w there, not 0",
          by([&](double r) { return std::abs(r) < w ? r : 0; })},
         {"that is RoPE: far distances keep growing", by([](double r) { return r; })},
         {"keys after the query have rho = +w; on that side it is -w",
          by([&](double r) { return std::abs(r) < w ? r : w; })},
         {"the sides are exchanged: keys before the query have rho = +w", by([&](double r) {
            return std::abs(r) < w ? r : r < 0 ? w : -w;
          })}},
        1e-3);
}

CASE("ReRoPE: the window counts positions, even if they are 2 apart or decreasing") {
  Heads13 x;
  for (const double step : {2., -2.}) {
    std::vector<double> at;
    for (int i = 0; i < T; ++i) at.push_back(step > 0 ? step * i : step * (i - T + 1));
    x.p = Positions::of_tokens(1, at);
    const auto by = [&](double cut, bool by_slots = false) {  // near: fewer than `cut` slots apart
      return by_rho(x.q, x.k, [&](int i, int j) {
        const double far = (by_slots ? i - j : step * (i - j)) < 0 ? -3 : 3;
        return std::abs(i - j) < cut ? step * (i - j) : far;
      });
    };
    check(step > 0 ? "positions 0, 2, .. 12, w = 3: the first slot distance that is far is 3 / 2, rounded up"
                   : "positions 12, 10, .. 0, w = 3: keys before the query are at larger positions, rho = -w",
          x.logits("rerope:window=3"), by(2),
          {{"the window is taken for slots; it should be one of positions: w / |step|", by(3)},
           {"w / |step| is rounded down; it should be rounded up", by(1)},
           {"positions fall, so q and k of the second and the third piece have to be exchanged", by(2, true)},
           {"the window is taken for slots, and positions fall: exchange the second and the third piece", by(3, true)}},
          1e-3);
  }
}

CASE("Leaky ReRoPE: far distances grow more slowly") {
  const Heads13 x;
  const double w = 2, k = 4;
  const auto by = [&](const std::function<double(double)>& f) {
    return by_rho(x.q, x.k, [&](int i, int j) { return f(i - j); });
  };
  const auto mirrored = [](double r, double far) { return r < 0 ? -far : far; };
  check("rho = w + (|r| - w) / k, with the sign of r, for |r| >= w; w = 2, k = 4", x.logits("rerope:window=2,leaky=4"),
        by([&](double r) { return leaky(r, w, k); }),
        {{"|r| / k alone: it jumps at the window",
          by([&](double r) { return std::abs(r) < w ? r : mirrored(r, std::abs(r) / k); })},
         {"w + |r| / k: subtract w before the division",
          by([&](double r) { return std::abs(r) < w ? r : mirrored(r, w + std::abs(r) / k); })},
         {"it is multiplied by k, and not divided",
          by([&](double r) { return std::abs(r) < w ? r : mirrored(r, w + (std::abs(r) - w) * k); })},
         {"far distances end at w: leaky is not read", by([&](double r) { return leaky(r, w, 0); })}},
        1e-3);
}

CASE("Leaky ReRoPE with k = 1 is RoPE") {
  const Heads13 x;
  check("rho = w + (r - w) / 1 = r", x.logits("rerope:window=2,leaky=1"), values(x.logits("rope")), {}, 1e-3);
}

CASE("ReRoPE with a causal mask needs two pieces") {
  const Heads13 x;
  const Values got = values(x.logits("rerope:window=3", true));
  const Values all = by_rho(x.q, x.k, [](int i, int j) { return leaky(i - j, 3, 0); });
  Values seen, expected;  // without the masked logits
  for (int i = 0; i < T; ++i)
    for (int j = 0; j <= i; ++j) seen.push_back(got[size_t(i * T + j)]), expected.push_back(all[size_t(i * T + j)]);
  check("rho = min(r, w), keys before the query", seen, expected, {}, 1e-3);
}

CASE("a sliding window") {
  const Heads13 x;
  const auto by = [&](int before, int after) {
    return by_rho(x.q, x.k, [=](int i, int j) { return j - i < -before || j - i > after ? INFINITY : i - j; });
  };
  check("query i sees key j where |i - j| < w = 3, and the product is RoPE's", x.logits("window:window=3"), by(2, 2),
        {{"one key too many on each side: |i - j| < w, not <=", by(3, 3)},
         {"one key too many before the query: from 1 - w on", by(3, 2)},
         {"one key too few after the query: `to` is the first that is not seen", by(2, 1)},
         {"everything is seen", by(T, T)}},
        1e-3);
  check("with a causal mask keys after the query are in no piece", x.logits("window:window=3", true), by(2, 0),
        {{"the query does not see itself: `to` is the first that is not seen", by(2, -1)},
         {"keys after the query are seen", by(2, 2)}},
        1e-3);
}
