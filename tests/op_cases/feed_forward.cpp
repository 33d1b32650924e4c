// feed_forward: max(x w1 + b1, 0) w2 + b2.
#include <fmt/format.h>

#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

const Cases feed_forward_cases([](std::vector<OpCase>& all) {
  struct Sizes {
    Shape rows;
    int in, d_ff, out;
  };
  const std::vector<Sizes> sizes = {{{1}, 1, 1, 1},      {{31}, 33, 70, 7},        {{3, 5}, 8, 31, 8},
                                    {{257}, 31, 64, 33}, {{2, 2, 3}, 64, 256, 64}, {{1700}, 16, 65, 16}};
  for (const auto& [lead, in, d_ff, out] : sizes) {
    Shape x = lead, y = lead;
    x.push_back(in), y.push_back(out);
    const int rows = int(size_of(lead));
    OpCase c{"feed_forward", fmt::format("{} d_ff {} out {}", to_string(x), d_ff, out),
             {x, {in, d_ff}, {d_ff}, {d_ff, out}, {out}}};
    c.op = [](auto& t) { return feed_forward(t[0], t[1], t[2], t[3], t[4]); };
    c.reference = [=, in = in, d_ff = d_ff, out = out](Arrays t) {
      Array h({rows, d_ff}), z(y);
      for (size_t e = 0; e < h.at.size(); ++e) h.at[e] = t[2].at[e % size_t(d_ff)];
      multiply(h.at.data(), t[0].at.data(), t[1].at.data(), rows, in, d_ff);
      for (double& v : h.at) v = v < 0 ? 0 : v;
      for (size_t e = 0; e < z.at.size(); ++e) z.at[e] = t[4].at[e % size_t(out)];
      multiply(z.at.data(), h.at.data(), t[3].at.data(), rows, d_ff, out);
      return z;
    };
    c.twin = [](auto& t) { return composed::feed_forward(t[0], t[1], t[2], t[3], t[4]); };
    c.flops = 2. * rows * (double(in) * d_ff + double(d_ff) * out);
    c.step = 1e-6;
    all.push_back(c);
  }
});

const Cases feed_forward_speed(
    [](std::vector<OpCase>& all) {
      all.push_back(
          {"feed_forward", "(5120, 64) d_ff 256", {{5120, 64}, {64, 256}, {256}, {256, 64}, {64}}, [](auto& x) {
             return feed_forward(x[0], x[1], x[2], x[3], x[4]);
           }});
      all.back().flops = 4. * 5120 * 64 * 256;
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
