// linear_stored and gather_stored: weights in the number formats of files, with 32 or 16 bits. Rows begin at multiples
// of 16 bytes or not; x has up to four rows, or more.
#include <fmt/format.h>

#include "core/stored_matrix.h"
#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

struct Stored {
  StoredMatrix matrix;
  std::vector<double> values;
};

// Numbers of size 2^-8 to 2 in this format, some with an odd last bit and some with an even one.
Stored stored(StoredAs as, int rows, int columns) {
  const size_t n = size_t(rows) * size_t(columns);
  const auto words = std::make_shared<std::vector<uint32_t>>(n);
  Rng rng({0, 5, uint32_t(n)});
  for (uint32_t& word : *words) {
    const uint32_t sign = rng.below(2), fraction = rng.below(1 << 23), exponent = rng.below(8);
    word = sign << 31 | (120 + exponent) << 23 | fraction;
    if (as == StoredAs::bfloat16) word >>= 16;
    if (as == StoredAs::float16) word = sign << 15 | (8 + exponent) << 10 | fraction >> 13;
  }
  const auto halves = std::make_shared<std::vector<uint16_t>>(words->begin(), words->end());
  Stored s;
  if (as == StoredAs::float32)
    s.matrix = {as, words->data(), rows, columns, words};
  else
    s.matrix = {as, halves->data(), rows, columns, halves};
  with_numbers(as, s.matrix.at, [&](auto* numbers) {
    for (size_t e = 0; e < n; ++e) s.values.push_back(double(number_of(numbers[e])));
  });
  return s;
}

const char* form_name(StoredAs as) {
  return as == StoredAs::float32 ? "fp32" : as == StoredAs::bfloat16 ? "bf16" : "fp16";
}

const Cases stored_cases([](std::vector<OpCase>& all) {
  struct Sizes { Shape rows; int in, out; };
  for (const StoredAs as : {StoredAs::float32, StoredAs::bfloat16, StoredAs::float16}) {
    for (const auto& [lead, in, out] : {Sizes{{1}, 1, 1}, {{2, 2}, 33, 7}, {{3}, 64, 65}, {{5}, 24, 9},
                                        {{37}, 33, 31}, {{2, 20}, 64, 70}, {{6}, 520, 5}})
      for (const bool bias : {false, true}) {
        Shape x = lead, y = lead;
        x.push_back(in), y.push_back(out);
        const Stored w = stored(as, out, in);
        OpCase c{"linear_stored", fmt::format("{} {} ({}, {}){}", to_string(x), form_name(as), out, in,
                                              bias ? " bias" : ""), {x}};
        if (bias) c.shapes.push_back({out});
        c.op = [=](auto& t) { return linear(t[0], w.matrix.to(t[0].device()), bias ? t[1] : Tensor()); };
        c.reference = [=, in = in, out = out](Arrays t) {
          Array h(y);
          for (size_t r = 0; r < h.at.size() / size_t(out); ++r)
            for (size_t o = 0; o < size_t(out); ++o) {
              double& sum = h.at[r * size_t(out) + o] = bias ? t[1].at[o] : 0;
              for (size_t i = 0; i < size_t(in); ++i) sum += t[0].at[r * size_t(in) + i] * w.values[o * size_t(in) + i];
            }
          return h;
        };
        c.differentiable = false;
        all.push_back(c);
      }
    // The table is no input; a case has one input if its rows are added to x.
    for (const auto& [entries, n, shape] : {std::tuple{1, 1, Shape{1}}, {5, 33, Shape{2, 3}}, {130, 8, Shape{70}}}) {
      const Stored table = stored(as, entries, n);
      const Ids at(shape, random_ids(size_of(shape), entries, 7));
      Shape y = shape;
      y.push_back(n);
      OpCase c{"gather_stored", fmt::format("{} ({}, {}) ids {}", form_name(as), entries, n, to_string(shape)), {y}};
      c.op = [=](auto& t) { return t[0] + gather(table.matrix.to(t[0].device()), at); };
      c.reference = [=, n = size_t(n)](Arrays t) {
        for (size_t e = 0; e < t[0].at.size(); ++e) t[0].at[e] += table.values[size_t(at[int64_t(e / n)]) * n + e % n];
        return t[0];
      };
      c.differentiable = false;
      all.push_back(c);
    }
  }
});

}  // namespace
}  // namespace poslab::test
