// Missing duplicate: a string written twice with one symbol hidden; which one?   0 1 1 0 2 1 -> 1
//   floor(L/2) uniform bits, twice; one uniform slot becomes 2; an odd L ends in the pad symbol 3        (spec B.2)
// One symbol has no room for this: then the input is 1 and the answer is 1.
#include <algorithm>

#include "tasks/all.h"

namespace poslab {
namespace {

enum { hidden = 2, pad };

Tokens twice_with_hole(const Tokens& half, size_t hole, bool padded) {
  Tokens x = half;
  x.insert(x.end(), half.begin(), half.end());
  x[hole] = hidden;
  if (padded) x.push_back(pad);
  return x;
}

Tokens draw_with_hole(Rng& rng, int length) {
  if (length == 1) return {1};
  const Tokens half = uniform(rng, length / 2, 2);
  return twice_with_hole(half, rng.below(uint32_t(2 * half.size())), length % 2);
}

// The number of visible ones is odd exactly if a one is hidden, so the content already tells the answer.
Tokens shuffled_with_hole(const Tokens& input, Rng& rng) {
  if (input.size() == 1) return input;
  const auto ones = size_t(std::count(input.begin(), input.end(), 1));
  Tokens half(input.size() / 2, 0);
  std::fill_n(half.begin(), (ones + 1) / 2, 1);
  shuffle(half, rng);
  size_t hole;
  do hole = rng.below(uint32_t(2 * half.size())); while (half[hole % half.size()] != int(ones % 2));
  return twice_with_hole(half, hole, input.size() % 2);
}

Tokens hidden_symbol(const Tokens& x) {
  if (x.size() == 1) return {1};
  const size_t half = x.size() / 2, hole = size_t(std::find(x.begin(), x.end(), hidden) - x.begin());
  return {x[(hole + half) % (2 * half)]};
}

bool is_twice_with_hole(const Tokens& x) {
  if (x.size() == 1) return x[0] == 1;
  const size_t half = x.size() / 2;
  int holes = 0;
  for (size_t i = 0; i < half; ++i) {
    const int a = x[i], b = x[i + half];
    if (a == pad || b == pad || (a == hidden && b == hidden)) return false;
    if (a == hidden || b == hidden) ++holes;
    else if (a != b) return false;
  }
  return holes == 1 && (x.size() % 2 == 0 || x.back() == pad);
}

}  // namespace

Task missing_duplicate_string() {
  return {.name = "missing_duplicate_string",
          .level = "context_sensitive",
          .summary = "the symbol hidden in a string written twice  0 1 1 0 ? 1 -> 1",
          .about = R"(A string of bits is written twice, and one bit of either copy is hidden behind a ?.
The model answers with that bit, which stands at the same place of the other copy. If the length is
odd, a _ at the end fills the place that is left over.)",
          .symbols_in = 4,
          .output_length = always_one,
          .answer = hidden_symbol,
          .input = draw_with_hole,
          .shuffled = shuffled_with_hole,
          .alphabet = {"0", "1", "?", "_"},
          .form = "a string of bits twice, one bit of it hidden by ?, and _ at the end if the length is odd, such as "
                  "011 0?1 or 10 1? _; the only string of length 1 is 1",
          .fits = is_twice_with_hole};
}

}  // namespace poslab
