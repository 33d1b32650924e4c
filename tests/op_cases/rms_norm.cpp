// rms_norm of rows.
#include <fmt/format.h>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

const Cases cases([](std::vector<OpCase>& all) {
  for (const Shape& shape : row_shapes())
    for (const double epsilon : {1e-6, 0.1}) {
      OpCase c{"rms_norm", fmt::format("{} epsilon {}", to_string(shape), epsilon), {shape, {shape.back()}}};
      c.op = [epsilon](auto& x) { return rms_norm(x[0], x[1], epsilon); };
      c.reference = [epsilon](Arrays x) { return rms_norm_reference(x[0], x[1], double(real(epsilon))); };
      c.twin = [epsilon](auto& x) { return composed::rms_norm(x[0], x[1], epsilon); };
      c.ranges = {{-1, 1}, {0.5, 1.5}};
      all.push_back(c);
    }
});

const Cases speed([](std::vector<OpCase>& all) {
  const Shape x = {5120, 64};
  all.push_back({"rms_norm", to_string(x), {x, {64}}, [](auto& t) { return rms_norm(t[0], t[1], 1e-6); }});
  all.push_back({"rms_norm", "composed", {x, {64}}, [](auto& t) { return composed::rms_norm(t[0], t[1], 1e-6); }});
}, For::bench);

}  // namespace
}  // namespace poslab::test
