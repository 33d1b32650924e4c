// scan: running sums along an axis.
#include <fmt/format.h>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

Array scan_reference(Array x, int axis, ScanOrder order) {
  int64_t inner = 1;
  const int n = x.shape[size_t(axis)];
  for (size_t d = size_t(axis) + 1; d < x.shape.size(); ++d) inner *= x.shape[d];
  Array y(x.shape);
  for (int64_t e = 0; e < size_of(x.shape); ++e) {
    const int j = int(e / inner % n);
    for (int k = 0; k < n; ++k)
      if ((k == j && !order.exclusive) || (order.reverse ? k > j : k < j))
        y.at[size_t(e)] += x.at[size_t(e + (k - j) * inner)];
  }
  return y;
}

const Cases scan_cases([](std::vector<OpCase>& all) {
  const std::vector<std::pair<Shape, int>> shapes = {
      {{1}, 0},         {{31}, 0},        {{3, 33}, 1},   {{3, 33}, 0},  {{700, 40}, 1},        {{2, 1500}, 1},
      {{2, 40, 64}, 1}, {{3, 5, 700}, 1}, {{4, 1, 3}, 1}, {{40, 5}, -2}, {{2, 3, 17, 2, 5}, 2}};
  for (const auto& [shape, axis] : shapes)
    for (const ScanOrder order : {ScanOrder{false, false}, {true, false}, {false, true}, {true, true}}) {
      const int dims = int(shape.size());
      OpCase c{"scan"};
      c.name = fmt::format("{} axis {}{}{}", to_string(shape), axis, order.exclusive ? " exclusive" : "",
                           order.reverse ? " reverse" : "");
      c.shapes = {shape};
      c.op = [=, axis = axis](auto& x) { return scan(x[0], axis, order); };
      c.reference = [=, axis = axis](Arrays x) { return scan_reference(x[0], (axis + dims) % dims, order); };
      c.twin = [=, axis = axis](auto& x) { return composed::scan(x[0], axis, order); };
      all.push_back(c);
    }
});

const Cases scan_speed(
    [](std::vector<OpCase>& all) {
      const auto time = [&](const char* name, Shape x, int axis) {
        all.push_back({"scan", name, {x}, [=](auto& t) { return scan(t[0], axis); }});
        all.push_back({"scan", fmt::format("{}, composed", name), {x}});
        all.back().op = [=](auto& t) { return composed::scan(t[0], axis, {}); };
      };
      time("of logits", {40960, 40}, -1);
      time("over time", {128, 40, 64}, 1);
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
