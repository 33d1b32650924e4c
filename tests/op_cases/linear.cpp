// linear: x w + b.
#include <fmt/format.h>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

const Cases linear_cases([](std::vector<OpCase>& all) {
  struct Sizes {
    Shape rows;
    int in, out;
  };
  const std::vector<Sizes> sizes = {{{1}, 1, 1},     {{31}, 33, 7},        {{3, 5}, 8, 31},
                                    {{257}, 31, 33}, {{2, 2, 3}, 64, 256}, {{33}, 257, 3},
                                    {{700}, 64, 64}, {{64}, 256, 64},      {{1100}, 20, 11},
                                    {{200}, 130, 70}};   // more columns than a block
  for (const auto& [lead, in, out] : sizes)
    for (const bool bias : {false, true}) {
      Shape x = lead, y = lead;
      x.push_back(in), y.push_back(out);
      const int rows = int(size_of(lead));
      std::vector<Shape> shapes = {x, {in, out}};
      if (bias) shapes.push_back({out});
      OpCase c{"linear", fmt::format("{} {}{}", to_string(x), to_string(shapes[1]), bias ? " bias" : ""), shapes};
      c.op = [=](auto& t) { return linear(t[0], t[1], bias ? t[2] : Tensor()); };
      c.reference = [=, in = in, out = out](Arrays t) {
        Array h(y);
        for (size_t e = 0; bias && e < h.at.size(); ++e) h.at[e] = t[2].at[e % size_t(out)];
        multiply(h.at.data(), t[0].at.data(), t[1].at.data(), rows, in, out);
        return h;
      };
      c.twin = [=](auto& t) { return composed::linear(t[0], t[1], bias ? t[2] : Tensor()); };
      c.flops = 2. * rows * in * out;
      all.push_back(c);
    }
});

const Cases linear_speed(
    [](std::vector<OpCase>& all) {
      for (const auto& [in, out] : {std::pair{64, 64}, {64, 256}, {256, 64}}) {
        all.push_back({"linear",
                       fmt::format("(5120, {}) ({}, {}) bias", in, in, out),
                       {{5120, in}, {in, out}, {out}},
                       [](auto& x) { return linear(x[0], x[1], x[2]); }});
        all.back().flops = 2. * 5120 * in * out;
      }
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
