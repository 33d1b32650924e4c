// Square root, most significant bit first.   1 0 0 1 0 1 -> 1 1 0      (37 -> 6)
//   y = bits of floor(sqrt(x)), zeros in front to ceil(L/2) slots; x uniform on 1 .. 2^L - 1      (spec B.2)
#include <algorithm>

#include "tasks/all.h"
#include "tasks/bignum.h"

namespace poslab {
namespace {

bool has_a_one(const Tokens& x) { return std::find(x.begin(), x.end(), 1) != x.end(); }
int half_rounded_up(int length) { return (length + 1) / 2; }

Tokens draw_positive(Rng& rng, int length) {
  Tokens x;
  do x = uniform(rng, length, 2); while (!has_a_one(x));
  return x;
}

Tokens root_of(const Tokens& x) {
  Tokens root = to_bits(isqrt(from_bits({x.rbegin(), x.rend()})));
  root.resize(size_t(half_rounded_up(int(x.size()))), 0);
  return {root.rbegin(), root.rend()};
}

}  // namespace

Task compute_sqrt() {
  return {.name = "compute_sqrt",
          .level = "context_sensitive",
          .summary = "floor of the square root, highest bit first  1 0 0 1 0 1 -> 1 1 0",
          .about = R"(The input is a binary number, highest bit first; the answer is the largest whole number whose
square does not exceed it, highest bit first, with zeros in front.)",
          .output_length = half_rounded_up,
          .answer = root_of,
          .input = draw_positive,
          .form = "bits with at least one 1, such as 100101",
          .fits = has_a_one};
}

}  // namespace poslab
