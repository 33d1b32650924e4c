// residual_norm: norm(x + dropout(z)).
#include <fmt/format.h>

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

const Cases speed([](std::vector<OpCase>& all) {
  const Shape x = {5120, 64};
  const Dropout drop{real(0.1), {1, 2, 3}};
  all.push_back({"residual_norm", to_string(x), {x, x, {64}, {64}},
                 [drop](auto& t) { return residual_norm(t[0], t[1], t[2], t[3], drop); }});
}, For::bench);

}  // namespace
}  // namespace poslab::test
