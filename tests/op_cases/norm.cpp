// norm: LayerNorm and RMSNorm of rows, and of x + dropout(z).
#include <fmt/format.h>

#include <array>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

const Cases layer([](std::vector<OpCase>& all) {
  for (const Shape& shape : norm_shapes()) {
    const Shape row = {shape.back()};
    OpCase c{"norm", "layer " + to_string(shape), {shape, row, row}, [](auto& x) { return norm(x[0], x[1], x[2]); }};
    c.reference = [](Arrays x) { return norm_reference(x[0], x[1], x[2]); };
    c.twin = [](auto& x) { return composed::norm(x[0], x[1], x[2]); };
    c.ranges = {{-1, 1}, {0.5, 1.5}};
    all.push_back(c);
  }
});

const Cases rms([](std::vector<OpCase>& all) {
  for (const Shape& shape : row_shapes())
    for (const double epsilon : {1e-6, 0.1}) {
      OpCase c{"norm", fmt::format("rms {} epsilon {}", to_string(shape), epsilon), {shape, {shape.back()}}};
      c.op = [epsilon](auto& x) { return rms_norm(x[0], x[1], epsilon); };
      c.reference = [epsilon](Arrays x) { return rms_norm_reference(x[0], x[1], double(real(epsilon))); };
      c.twin = [epsilon](auto& x) { return composed::rms_norm(x[0], x[1], epsilon); };
      c.ranges = {{-1, 1}, {0.5, 1.5}};
      all.push_back(c);
    }
});

const Cases layer_of_sum([](std::vector<OpCase>& all) {
  for (const Shape& shape : norm_shapes())
    for (const double rate : {0., 0.1, 0.5}) {
      const Shape row = {shape.back()};
      const Dropout drop{real(rate), {17, 3, 9}};
      OpCase c{"norm", fmt::format("layer of a sum {} dropout {}", to_string(shape), rate), {shape, shape, row, row}};
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

// z = h w + b, as at the end of a sub-layer. A GPU whose tiles hold whole rows makes z and norm at once. Some rows
// fill tiles and some do not: one tile, part of one, more than one.
const Cases layer_of_product([](std::vector<OpCase>& all) {
  for (const auto& [rows, in, n] : {std::array{70, 9, 64}, {3, 40, 12}, {64, 64, 64}, {33, 5, 65}})
    for (const double rate : {0., 0.3}) {
      const Dropout drop{real(rate), {17, 3, 9}};
      OpCase c{"norm", fmt::format("layer of a sum, ({}, {}) w ({}, {}) dropout {}", rows, in, in, n, rate),
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

// The results that a loss needs: s and its norm y, or only one of the two.
enum class Needed { both, s, y };

Tensor needed(const ResidualNorm& r, Needed which) {
  return which == Needed::s ? r.s : which == Needed::y ? r.y : concat({r.s, r.y}, 0);
}

const Cases rms_of_sum([](std::vector<OpCase>& all) {
  for (const Shape& shape : row_shapes())
    for (const double rate : {0., 0.3})
      for (const Needed which : {Needed::both, Needed::s, Needed::y}) {
        const Dropout drop{real(rate), {17, 3, 9}};
        const char* name = which == Needed::both ? "s and y" : which == Needed::s ? "s" : "y";
        OpCase c{"norm", fmt::format("rms of a sum {} dropout {}, {}", to_string(shape), rate, name)};
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

const Cases norm_speed(
    [](std::vector<OpCase>& all) {
      const Shape x = {5120, 64};
      const Dropout drop{real(0.1), {1, 2, 3}};
      all.push_back({"norm", "layer " + to_string(x), {x, {64}, {64}}, [](auto& t) { return norm(t[0], t[1], t[2]); }});
      all.push_back({"norm", "rms " + to_string(x), {x, {64}}, [](auto& t) { return rms_norm(t[0], t[1], 1e-6); }});
      all.push_back({"norm", "rms composed", {x, {64}}, [](auto& t) { return composed::rms_norm(t[0], t[1], 1e-6); }});
      all.push_back({"norm", "layer of a sum " + to_string(x), {x, x, {64}, {64}}, [drop](auto& t) {
                       return residual_norm(t[0], t[1], t[2], t[3], drop);
                     }});
      all.push_back({"norm", "rms of a sum " + to_string(x), {x, x, {64}}, [drop](auto& t) {
                       return residual_rms_norm(t[0], t[1], t[2], 1e-6, drop).y;
                     }});
      all.push_back({"norm", "rms of a sum composed", {x, x, {64}}, [drop](auto& t) {
                       return composed::residual_rms_norm(t[0], t[1], t[2], 1e-6, drop).y;
                     }});
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
