// softmax of rows; its special values are in tests/core/special_values.cpp.
#include <fmt/format.h>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

const Cases softmax_cases([](std::vector<OpCase>& all) {
  for (const Shape& shape : row_shapes())
    for (const double size : {1., 20.}) {
      OpCase c{"softmax", fmt::format("{} up to {}", to_string(shape), size), {shape}};
      c.op = [](auto& x) { return softmax(x[0]); };
      c.reference = [](Arrays x) { return for_rows(x[0], Array(x[0].shape), softmax_row); };
      c.ranges = {{-size, size}}, c.floor = 1e-3;
      all.push_back(c);
    }
});

const Cases softmax_speed(
    [](std::vector<OpCase>& all) {
      all.push_back({"softmax", "of logits", {{40960, 40}}, [](auto& x) { return softmax(x[0]); }});
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
