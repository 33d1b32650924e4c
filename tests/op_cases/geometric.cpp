// geometric: against the product formula of spec A.1 (14), and against its composed twin.
#include <fmt/format.h>

#include "tests/op_cases/op_case.h"

namespace poslab::test {
namespace {

struct Sizes { int batch, heads, queries, keys; };

// Whether key k is in C(t,j): C(t,j) has all keys nearer to slot t than j, and for a left key j also the key at the
// same distance on the right.
bool nearer(int t, int k, int j) {
  return k != t && (std::abs(t - k) < std::abs(t - j) || (j < t && k - t == t - j));
}

// a_ij = P_ij prod over C(i,j) of (1 - P_ik), divided by its sum; P_it = 0
Array product_formula(Arrays x, bool causal) {
  Array &z = x[0], &side = x[1], a(z.shape);
  const int queries = z.shape[2], keys = z.shape[3];
  for (int b = 0; b < z.shape[0]; ++b)
    for (int h = 0; h < z.shape[1]; ++h)
      for (int i = 0; i < queries; ++i) {
        const int t = keys - queries + i, end = causal ? t : keys;
        std::vector<double> p(size_t(keys), 0.), rest(size_t(keys), 1.);        // P and 1 - P
        for (int j = 0; j < end; ++j) {
          const double logit = z(b, h, i, j) + side(b, h, i, j > t ? 0 : 1);
          if (j != t) p[size_t(j)] = 1 / (1 + std::exp(-logit)), rest[size_t(j)] = 1 / (1 + std::exp(logit));
        }
        double sum = 0;
        for (int j = 0; j < end; ++j) {
          double& weight = a(b, h, i, j) = p[size_t(j)];
          for (int k = 0; k < end; ++k)
            if (nearer(t, k, j)) weight *= rest[size_t(k)];
          sum += weight;
        }
        for (int j = 0; j < end; ++j) a(b, h, i, j) = sum > 0 ? a(b, h, i, j) / sum : 0;
      }
  return a;
}

void add(std::vector<OpCase>& all, const Sizes& n, bool causal, double size, bool twin = true) {
  const Span span{.causal = causal, .offset = n.keys - n.queries};
  const Shape z = {n.batch, n.heads, n.queries, n.keys}, side = {n.batch, n.heads, n.queries, 2};
  OpCase c{"geometric", fmt::format("{} up to {}{}", to_string(z), size, causal ? " causal" : ""), {z, side}};
  c.op = [span](auto& x) { return geometric(x[0], x[1], span); };
  c.reference = [causal](Arrays x) { return product_formula(std::move(x), causal); };
  if (twin) c.twin = [span](auto& x) { return composed::geometric(x[0], x[1], span); };
  c.ranges = {{-size, size}, {-size / 2, size / 2}}, c.floor = 1e-3;
  all.push_back(c);
}

const Cases geometric_cases([](std::vector<OpCase>& all) {
  for (const bool causal : {false, true}) {
    const std::vector<Sizes> sizes = {{1, 1, 2, 2},  {2, 2, 5, 5},  {1, 2, 31, 31}, {2, 1, 33, 33},
                                      {2, 3, 3, 10}, {3, 2, 1, 17}, {1, 2, 33, 65}};
    for (const Sizes& n : sizes)
      for (const double size : {1., 20.}) add(all, n, causal, size);
    add(all, {2, 1, 1, 1}, causal, 1);            // a query without another key
    add(all, {1, 1, 8, 300}, causal, 3, false);
  }
});

const Cases geometric_speed(
    [](std::vector<OpCase>& all) {
      for (const int slots : {40, 200})
        for (const bool causal : {false, true}) add(all, {128 * 40 / slots, 8, slots, slots}, causal, 3, false);
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
