// norm: LayerNorm of rows.
#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

const Cases cases([](std::vector<OpCase>& all) {
  for (const Shape& shape : norm_shapes()) {
    const Shape row = {shape.back()};
    OpCase c{"norm", to_string(shape), {shape, row, row}, [](auto& x) { return norm(x[0], x[1], x[2]); }};
    c.reference = [](Arrays x) { return norm_reference(x[0], x[1], x[2]); };
    c.twin = [](auto& x) { return composed::norm(x[0], x[1], x[2]); };
    c.ranges = {{-1, 1}, {0.5, 1.5}};
    all.push_back(c);
  }
});

const Cases speed([](std::vector<OpCase>& all) {
  const Shape x = {5120, 64};
  all.push_back({"norm", to_string(x), {x, {64}, {64}}, [](auto& t) { return norm(t[0], t[1], t[2]); }});
}, For::bench);

}  // namespace
}  // namespace poslab::test
