// max: the largest number of each row; its special values are in tests/core/special_values.cpp.
#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

Shape last_one(Shape shape) {
  shape.back() = 1;
  return shape;
}

const Cases max_cases([](std::vector<OpCase>& all) {
  for (const Shape& shape : row_shapes()) {
    OpCase c{"max", to_string(shape), {shape}, [](auto& x) { return max(x[0]); }};
    c.reference = [](Arrays x) {
      return for_rows(x[0], Array(last_one(x[0].shape)),
                      [](double* y, const double* row, int n) { *y = *std::max_element(row, row + n); });
    };
    c.floor = 1e-30, c.step = 1e-7;
    all.push_back(c);
  }
});

const Cases max_speed(
    [](std::vector<OpCase>& all) {
      all.push_back({"max", "of logits", {{40960, 40}}, [](auto& x) { return max(x[0]); }});
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
