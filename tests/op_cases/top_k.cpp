// top_k: the largest numbers of each row, and their columns.
#include <fmt/format.h>

#include <numeric>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

// The values of all rows, then the columns of all rows.
Tensor both(const TopK& top) { return concat({top.values, top.columns}, 0); }

Array top_reference(const Array& x, int k) {
  Shape shape = x.shape;
  shape.back() = k;
  Array values(shape), columns(shape);
  const size_t n = size_t(x.shape.back()), rows = x.at.size() / n;
  for (size_t i = 0; i < rows; ++i) {
    std::vector<int> order(n);
    std::iota(order.begin(), order.end(), 0);
    const double* row = &x.at[i * n];
    std::sort(order.begin(), order.end(), [=](int a, int b) { return row[a] != row[b] ? row[a] > row[b] : a < b; });
    for (size_t r = 0; r < size_t(k); ++r) {
      values.at[i * size_t(k) + r] = row[order[r]];
      columns.at[i * size_t(k) + r] = order[r];
    }
  }
  values.at.insert(values.at.end(), columns.at.begin(), columns.at.end());
  values.shape[0] *= 2;
  return values;
}

const Cases top_k_cases([](std::vector<OpCase>& all) {
  const std::vector<std::pair<Shape, int>> shapes = {{{1, 1}, 1},      {{1, 7}, 7},  {{31, 2}, 1},   {{3, 31}, 5},
                                                     {{5, 33}, 33},    {{2, 3, 16}, 4}, {{2, 257}, 40}, {{700, 64}, 8},
                                                     {{3, 9000}, 50}};
  for (const auto& [shape, k] : shapes) {
    OpCase c{"top_k", fmt::format("{} of {}", k, to_string(shape)), {shape}};
    c.op = [k = k](auto& x) { return both(top_k(x[0], k)); };
    c.reference = [k = k](Arrays x) { return top_reference(x[0], k); };
    c.twin = [k = k](auto& x) { return both(composed::top_k(x[0], k)); };
    c.floor = 1e-30, c.step = 1e-7;
    all.push_back(c);
  }
});

const Cases top_k_speed(
    [](std::vector<OpCase>& all) {
      for (const auto& [shape, k] : {std::pair{Shape{40960, 40}, 4}, {Shape{128, 32000}, 50}}) {
        const std::string name = fmt::format("{} of {}", k, to_string(shape));
        all.push_back({"top_k", name, {shape}, [k = k](auto& x) { return top_k(x[0], k).values; }});
        all.push_back({"top_k", name + ", composed", {shape}});
        all.back().op = [k = k](auto& x) { return composed::top_k(x[0], k).values; };
      }
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
