// gather: rows of a table by their indices.
#include "tests/op_cases/op_case.h"

namespace poslab::test {
namespace {

const Cases gather_cases([](std::vector<OpCase>& all) {
  struct Sizes {
    Shape table, ids;
  };
  const std::vector<Sizes> sizes = {{{1, 1}, {1}},           {{5, 3}, {31}},        {{31, 33}, {2, 3}},
                                    {{7, 2, 4}, {3, 4, 5}}, {{257, 64}, {20, 70}}, {{12, 8}, {5000}},
                                    {{3, 1}, {4000}}};
  for (const auto& [table, shape] : sizes) {
    const Ids at(shape, random_ids(size_of(shape), table[0], 6));
    Shape y = shape;
    y.insert(y.end(), table.begin() + 1, table.end());
    OpCase c{"gather", to_string(table) + " ids " + to_string(shape), {table}};
    c.op = [at](auto& x) { return gather(x[0], at); };
    c.reference = [at, y](Arrays x) {
      Array rows(y);
      const size_t n = rows.at.size() / size_t(at.size());
      for (size_t e = 0; e < rows.at.size(); ++e) rows.at[e] = x[0].at[size_t(at[int64_t(e / n)]) * n + e % n];
      return rows;
    };
    all.push_back(c);
  }
});

const Cases gather_speed(
    [](std::vector<OpCase>& all) {
      const Ids tokens({128, 40}, random_ids(5120, 12, 6));
      all.push_back(
          {"gather", "(12, 64) ids (128, 40)", {{12, 64}}, [tokens](auto& x) { return gather(x[0], tokens); }});
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
