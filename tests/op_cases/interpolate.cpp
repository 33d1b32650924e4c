// interpolate: between the entries of a row, before the first entry and after the last.
#include <fmt/format.h>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

Array interpolate_reference(Array t, Array p) {
  const int entries = t.shape.back(), n = p.shape.back();
  Array y = p;
  for (size_t e = 0; e < p.at.size(); ++e) {
    const double* row = &t.at[e / size_t(n) * size_t(entries)];
    const double at = std::min(std::max(p.at[e], 0.), entries - 1.), below = std::floor(at);
    const size_t m = size_t(below);
    y.at[e] = at == below ? row[m] : (m + 1 - at) * row[m] + (at - below) * row[m + 1];
  }
  return y;
}

const Cases interpolate_cases([](std::vector<OpCase>& all) {
  struct Sizes {
    Shape table, places;
  };
  const std::vector<Sizes> sizes = {{{1}, {1}},
                                    {{2}, {31}},
                                    {{3, 1}, {3, 33}},
                                    {{3, 16}, {3, 5}},
                                    {{2, 3, 5}, {2, 3, 40}},
                                    {{700, 16}, {700, 40}},
                                    {{1, 31}, {1, 257}},
                                    {{2, 9}, {2, 9000}},
                                    {{2, 33}, {2, 50}}};
  for (const auto& [table, places] : sizes) {
    OpCase c{"interpolate", to_string(table) + " at " + to_string(places), {table, places}};
    c.op = [](auto& x) { return interpolate(x[0], x[1]); };
    c.reference = [](Arrays x) { return interpolate_reference(x[0], x[1]); };
    c.twin = [](auto& x) { return composed::interpolate(x[0], x[1]); };
    c.ranges = {{-1, 1}, {-0.7, table.back() - 0.4}};
    c.step = 1e-7;
    all.push_back(c);
  }
});

const Cases interpolate_speed(
    [](std::vector<OpCase>& all) {
      for (const auto& [name, op] : {std::pair{"of logits", &interpolate}, {"composed", &composed::interpolate}}) {
        all.push_back({"interpolate", name, {{40960, 16}, {40960, 40}}, [op = op](auto& x) { return op(x[0], x[1]); }});
        all.back().ranges = {{-1, 1}, {0, 18}};
      }
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
