// Missing duplicate: a string said twice with one symbol hidden; which?   0 1 1 0 2 1 -> 1
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

struct MissingDuplicateString : Task {
  std::string name() const override { return "missing_duplicate_string"; }
  std::string level() const override { return "context_sensitive"; }
  std::string summary() const override { return "the symbol hidden in a string said twice  0 1 1 0 ? 1 -> 1"; }
  std::string about() const override {
    return R"(A string of bits is written twice, and one bit of either copy is hidden behind a ?.
The model answers with that bit, which stands at the same place of the other copy. If the length is
odd, a _ at the end fills the place that is left over.)";
  }
  int symbols_in() const override { return 4; }
  int symbols_out() const override { return 2; }
  int output_length(int) const override { return 1; }

  Tokens input(Rng& rng, int length) const override {
    if (length == 1) return {1};
    Tokens half(size_t(length / 2));
    for (int& bit : half) bit = rng.between(0, 1);
    return twice_with_hole(half, rng.below(uint32_t(2 * half.size())), length % 2);
  }

  // The visible ones are odd in number exactly if a one is hidden, so the content already tells the answer.
  Tokens shuffled(const Tokens& input, Rng& rng) const override {
    if (input.size() == 1) return input;
    const auto ones = size_t(std::count(input.begin(), input.end(), 1));
    Tokens half(input.size() / 2, 0);
    std::fill_n(half.begin(), (ones + 1) / 2, 1);
    shuffle(half, rng);
    size_t hole;
    do hole = rng.below(uint32_t(2 * half.size())); while (half[hole % half.size()] != int(ones % 2));
    return twice_with_hole(half, hole, input.size() % 2);
  }

  Tokens answer(const Tokens& x) const override {
    if (x.size() == 1) return {1};
    const size_t half = x.size() / 2, hole = size_t(std::find(x.begin(), x.end(), hidden) - x.begin());
    return {x[(hole + half) % (2 * half)]};
  }

  std::vector<std::string> alphabet() const override { return {"0", "1", "?", "_"}; }
  std::string form() const override {
    return "a string of bits twice, one bit of it hidden by ?, and _ at the end if the length is odd, such as 011 0?1 "
           "or 10 1? _; the only string of length 1 is 1";
  }
  bool fits(const Tokens& x) const override {
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
};

}  // namespace

NewTask missing_duplicate_string() { return std::make_unique<MissingDuplicateString>(); }

}  // namespace poslab
