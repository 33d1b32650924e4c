// residual_rms_norm: s = x + dropout(z) and rms_norm(s), of which a loss may need both, or only one.
#include <fmt/format.h>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

enum class Needed { both, s, y };

Tensor needed(const ResidualNorm& r, Needed which) {
  return which == Needed::s ? r.s : which == Needed::y ? r.y : concat({r.s, r.y}, 0);
}

const Cases cases([](std::vector<OpCase>& all) {
  for (const Shape& shape : row_shapes())
    for (const double rate : {0., 0.3})
      for (const Needed which : {Needed::both, Needed::s, Needed::y}) {
        const Dropout drop{real(rate), {17, 3, 9}};
        const char* name = which == Needed::both ? "s and y" : which == Needed::s ? "s" : "y";
        OpCase c{"residual_rms_norm", fmt::format("{} dropout {}, {}", to_string(shape), rate, name)};
        c.shapes = {shape, shape, {shape.back()}};
        c.op = [=](auto& x) { return needed(residual_rms_norm(x[0], x[1], x[2], 1e-5, drop), which); };
        c.reference = [=](Arrays x) {
          for (size_t e = 0; e < x[0].at.size(); ++e) x[0].at[e] += x[1].at[e] * dropout_factor(int64_t(e), drop);
          Array y = rms_norm_reference(x[0], x[2], double(real(1e-5)));
          if (which != Needed::both) return which == Needed::s ? x[0] : y;
          x[0].at.insert(x[0].at.end(), y.at.begin(), y.at.end());
          x[0].shape[0] *= 2;
          return x[0];
        };
        c.twin = [=](auto& x) { return needed(composed::residual_rms_norm(x[0], x[1], x[2], 1e-5, drop), which); };
        c.ranges = {{-1, 1}, {-1, 1}, {0.5, 1.5}};
        all.push_back(c);
      }
});

const Cases speed([](std::vector<OpCase>& all) {
  const Shape x = {5120, 64};
  const Dropout drop{real(0.1), {1, 2, 3}};
  all.push_back({"residual_rms_norm", to_string(x), {x, x, {64}},
                 [drop](auto& t) { return residual_rms_norm(t[0], t[1], t[2], 1e-6, drop).y; }});
  all.push_back({"residual_rms_norm", "composed", {x, x, {64}},
                 [drop](auto& t) { return composed::residual_rms_norm(t[0], t[1], t[2], 1e-6, drop).y; }});
}, For::bench);

}  // namespace
}  // namespace poslab::test
