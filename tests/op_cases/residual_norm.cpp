// residual_norm: norm(x + dropout(z)).
#include <fmt/format.h>

#include <array>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

const Cases cases([](std::vector<OpCase>& all) {
  for (const Shape& shape : norm_shapes())
    for (const double rate : {0., 0.1, 0.5}) {
      const Shape row = {shape.back()};
      const Dropout drop{real(rate), {17, 3, 9}};
      OpCase c{"residual_norm", fmt::format("{} dropout {}", to_string(shape), rate), {shape, shape, row, row}};
      c.op = [drop](auto& x) { return residual_norm(x[0], x[1], x[2], x[3], drop); };
      c.reference = [drop](Arrays x) {
        for (size_t e = 0; e < x[0].at.size(); ++e) x[0].at[e] += x[1].at[e] * dropout_factor(int64_t(e), drop);
        return norm_reference(x[0], x[2], x[3]);
      };
      c.twin = [drop](auto& x) { return composed::residual_norm(x[0], x[1], x[2], x[3], drop); };
      c.ranges = {{-1, 1}, {-1, 1}, {0.5, 1.5}};
      all.push_back(c);
    }
});

// z = h w + b, as at the end of a sub-layer. A GPU whose tiles hold whole rows does both in one launch: rows that fill
// tiles and rows that do not, of one tile, of less, and of more than one.
const Cases of_a_product([](std::vector<OpCase>& all) {
  for (const auto& [rows, in, n] : {std::array{70, 9, 64}, {3, 40, 12}, {64, 64, 64}, {33, 5, 65}})
    for (const double rate : {0., 0.3}) {
      const Dropout drop{real(rate), {17, 3, 9}};
      OpCase c{"residual_norm", fmt::format("({}, {}) w ({}, {}) dropout {}", rows, in, in, n, rate),
               {{rows, n}, {rows, in}, {in, n}, {n}, {n}, {n}}};
      c.op = [drop](auto& x) { return residual_norm(x[0], linear(x[1], x[2], x[3]), x[4], x[5], drop); };
      c.reference = [drop, rows = rows, in = in, n = n](Arrays x) {
        for (int i = 0; i < rows; ++i)
          for (int j = 0; j < n; ++j) {
            double z = x[3](j);
            for (int k = 0; k < in; ++k) z += x[1](i, k) * x[2](k, j);
            x[0](i, j) += z * dropout_factor(int64_t(i) * n + j, drop);
          }
        return norm_reference(x[0], x[4], x[5]);
      };
      c.ranges = {{-1, 1}, {-1, 1}, {-1, 1}, {-1, 1}, {0.5, 1.5}};
      all.push_back(c);
    }
});

const Cases speed([](std::vector<OpCase>& all) {
  const Shape x = {5120, 64};
  const Dropout drop{real(0.1), {1, 2, 3}};
  all.push_back({"residual_norm", to_string(x), {x, x, {64}, {64}},
                 [drop](auto& t) { return residual_norm(t[0], t[1], t[2], t[3], drop); }});
}, For::bench);

}  // namespace
}  // namespace poslab::test
