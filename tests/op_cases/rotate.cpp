// rotate: pairs of channels by angles.
#include <fmt/format.h>

#include "core/random.h"
#include "tests/op_case.h"

namespace poslab::test {
namespace {

struct Sizes { int batch, table_batch, time, heads, head_dim; };

OpCase rotation(const Sizes& s, Pairing pairing) {
  const Shape shape = {s.batch, s.time, s.heads, s.head_dim};
  const int half = s.head_dim / 2;
  Array angle({s.table_batch, s.time, half});
  Rng rng({0, 5, uint32_t(s.head_dim)});
  for (double& v : angle.at) v = double(real(100 * rng.uniform()));
  const Tensor angles = Tensor::from(angle.shape, angle.at);
  const bool interleaved = pairing == Pairing::interleaved;
  const char* how = interleaved ? "interleaved" : "half";
  OpCase c{"rotate", fmt::format("{} tables {} {}", to_string(shape), s.table_batch, how), {shape}};
  c.op = [=](auto& x) { return rotate(x[0], angles, pairing); };
  c.reference = [=](Arrays x) mutable {
    Array y(shape);
    for (int b = 0; b < shape[0]; ++b)
      for (int t = 0; t < shape[1]; ++t)
        for (int h = 0; h < shape[2]; ++h)
          for (int m = 0; m < half; ++m) {
            const int first = interleaved ? 2 * m : m, second = interleaved ? 2 * m + 1 : m + half;
            const double by = angle(s.table_batch == 1 ? 0 : b, t, m);
            const double p = x[0](b, t, h, first), q = x[0](b, t, h, second);
            y(b, t, h, first) = p * std::cos(by) - q * std::sin(by);
            y(b, t, h, second) = p * std::sin(by) + q * std::cos(by);
          }
    return y;
  };
  return c;
}

const Cases cases([](std::vector<OpCase>& all) {
  const std::vector<Sizes> sizes = {
      {1, 1, 1, 1, 2},   {2, 1, 5, 3, 2},  {2, 1, 5, 3, 4},  {2, 2, 5, 3, 4},  {3, 1, 31, 8, 8},
      {3, 3, 31, 8, 8},  {2, 1, 7, 3, 6},  {2, 2, 9, 2, 16}, {2, 1, 9, 3, 32}, {1, 1, 33, 2, 64},
      {2, 2, 3, 5, 20},  {40, 1, 40, 8, 8}, {40, 40, 40, 8, 8}};
  for (const Sizes& s : sizes)
    for (const Pairing pairing : {Pairing::interleaved, Pairing::half}) all.push_back(rotation(s, pairing));
});

const Cases speed([](std::vector<OpCase>& all) {
  for (const Pairing pairing : {Pairing::interleaved, Pairing::half})
    all.push_back({"rotate", pairing == Pairing::half ? "half" : "interleaved", {{128, 40, 8, 8}},
                   [=](auto& x) { return rotate(x[0], Tensor::full({1, 40, 4}, 1), pairing); }});
}, For::bench);

}  // namespace
}  // namespace poslab::test
