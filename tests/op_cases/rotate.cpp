// rotate: pairs of channels, rotated by angles.
#include <fmt/format.h>

#include "core/random.h"
#include "tests/op_cases/op_case.h"

namespace poslab::test {
namespace {

struct Sizes { int batch, table_batch, time, heads, head_dim; };

std::string title(const Sizes& s, Pairing pairing, const char* learned = "") {
  return fmt::format("({}, {}, {}, {}) tables {} {}{}", s.batch, s.time, s.heads, s.head_dim, s.table_batch,
                     pairing == Pairing::interleaved ? "interleaved" : "half", learned);
}

// x rotated by these cosines and sines, which need not belong to one angle
Array rotated(const Sizes& s, Pairing pairing, Array& x, Array& cosine, Array& sine) {
  Array y(x.shape);
  const bool interleaved = pairing == Pairing::interleaved;
  const int half = s.head_dim / 2;
  for (int b = 0; b < s.batch; ++b)
    for (int t = 0; t < s.time; ++t)
      for (int h = 0; h < s.heads; ++h)
        for (int m = 0; m < half; ++m) {
          const int first = interleaved ? 2 * m : m, second = interleaved ? 2 * m + 1 : m + half;
          const int table = s.table_batch == 1 ? 0 : b;
          const double p = x(b, t, h, first), q = x(b, t, h, second);
          y(b, t, h, first) = p * cosine(table, t, m) - q * sine(table, t, m);
          y(b, t, h, second) = p * sine(table, t, m) + q * cosine(table, t, m);
        }
  return y;
}
Array rotated(const Sizes& s, Pairing pairing, Array& x, Array& angle) {
  Array cosine = angle, sine = angle;
  for (double& v : cosine.at) v = std::cos(v);
  for (double& v : sine.at) v = std::sin(v);
  return rotated(s, pairing, x, cosine, sine);
}

OpCase rotation(const Sizes& s, Pairing pairing) {
  Array angle({s.table_batch, s.time, s.head_dim / 2});
  Rng rng({0, 5, uint32_t(s.head_dim)});
  for (double& v : angle.at) v = double(real(100 * rng.uniform()));
  const Tensor angles = Tensor::from(angle.shape, angle.at);
  OpCase c{"rotate", title(s, pairing), {{s.batch, s.time, s.heads, s.head_dim}}};
  c.op = [=](auto& x) { return rotate(x[0], angles, pairing); };
  c.reference = [=](Arrays x) mutable { return rotated(s, pairing, x[0], angle); };
  return c;
}

OpCase rotation_by_learned_angles(const Sizes& s, Pairing pairing) {
  const Shape table = {s.table_batch, s.time, s.head_dim / 2};
  OpCase c{"rotate", title(s, pairing, ", learned angles"), {{s.batch, s.time, s.heads, s.head_dim}, table}};
  c.ranges = {{}, {-4, 4}};
  c.op = [=](auto& x) { return rotate(x[0], x[1], pairing); };
  c.reference = [=](Arrays x) { return rotated(s, pairing, x[0], x[1]); };
  return c;
}

OpCase rotation_by_any_table(const Sizes& s, Pairing pairing) {
  const Shape table = {s.table_batch, s.time, s.head_dim / 2};
  OpCase c{"rotate", title(s, pairing, ", learned tables"), {{s.batch, s.time, s.heads, s.head_dim}, table, table}};
  c.op = [=](auto& x) { return rotate(x[0], Rotation{x[1], x[2]}, pairing); };
  c.reference = [=](Arrays x) { return rotated(s, pairing, x[0], x[1], x[2]); };
  return c;
}

const Cases rotate_cases([](std::vector<OpCase>& all) {
  const std::vector<Sizes> sizes = {
      {1, 1, 1, 1, 2},   {2, 1, 5, 3, 2},  {2, 1, 5, 3, 4},  {2, 2, 5, 3, 4},  {3, 1, 31, 8, 8},
      {3, 3, 31, 8, 8},  {2, 1, 7, 3, 6},  {2, 2, 9, 2, 16}, {2, 1, 9, 3, 32}, {1, 1, 33, 2, 64},
      {2, 2, 3, 5, 20},  {40, 1, 40, 8, 8}, {40, 40, 40, 8, 8}};
  for (const Sizes& s : sizes)
    for (const Pairing pairing : {Pairing::interleaved, Pairing::half}) {
      all.push_back(rotation(s, pairing));
      if (s.batch > 3) continue;
      all.push_back(rotation_by_learned_angles(s, pairing));
      all.push_back(rotation_by_any_table(s, pairing));
    }
});

const Cases rotate_speed(
    [](std::vector<OpCase>& all) {
      for (const Pairing pairing : {Pairing::interleaved, Pairing::half})
        all.push_back({"rotate", pairing == Pairing::half ? "half" : "interleaved", {{128, 40, 8, 8}}, [=](auto& x) {
                         return rotate(x[0], Tensor::full({1, 40, 4}, 1), pairing);
                       }});
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
