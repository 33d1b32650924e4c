// dropout; tests/core/special_values.cpp tests the share of kept elements.
#include <fmt/format.h>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

const Cases dropout_cases([](std::vector<OpCase>& all) {
  for (const Shape& shape : std::vector<Shape>{{1}, {31}, {3, 11}, {257}, {1024, 33}})
    for (const double rate : {0.1, 0.5, 0.99}) {
      const Dropout drop{real(rate), {0xFEDCBA9876543210u, 1000003, 77}};
      OpCase c{"dropout", fmt::format("{} rate {}", to_string(shape), rate), {shape}};
      c.op = [drop](auto& x) { return dropout(x[0], drop); };
      c.reference = [drop](Arrays x) {
        for (size_t e = 0; e < x[0].at.size(); ++e) x[0].at[e] *= dropout_factor(int64_t(e), drop);
        return x[0];
      };
      all.push_back(c);
    }
});

const Cases dropout_speed(
    [](std::vector<OpCase>& all) {
      const Shape x = {5120, 64};
      const Dropout drop{real(0.1), {1, 2, 3}};
      all.push_back({"dropout", to_string(x), {x}, [drop](auto& t) { return dropout(t[0], drop); }});
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
