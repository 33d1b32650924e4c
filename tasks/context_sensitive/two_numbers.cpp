// The distribution of the inputs of binary addition and multiplication.
#include "tasks/context_sensitive/two_numbers.h"

#include <fmt/format.h>

namespace poslab {
namespace {

inline constexpr int separator = 2;

// Uniform on 1 .. 2^bits - 1: all strings of bits are equally likely; those without a one are drawn again.
Tokens positive(Rng& rng, int bits) {
  Tokens x;
  do x = uniform(rng, bits, 2); while (std::find(x.begin(), x.end(), 1) == x.end());
  return x;
}

Tokens draw_two(Rng& rng, int length) {
  if (length == 1) return {0};
  if (length == 2) return std::vector<Tokens>{{0, 0}, {1, 0}, {0, 1}}[rng.below(3)];
  const int bits = rng.between(1, length - 2);
  Tokens x = positive(rng, bits);
  x.push_back(separator);
  const Tokens m = positive(rng, length - 1 - bits);
  x.insert(x.end(), m.begin(), m.end());
  return x;
}

bool are_two(const Tokens& x) {
  const auto middle = std::find(x.begin(), x.end(), separator);
  if (x.size() <= 2) return middle == x.end();
  const auto positive = [](auto from, auto to) { return std::find(from, to, 1) != to; };
  return std::count(x.begin(), x.end(), separator) == 1 && positive(x.begin(), middle) && positive(middle + 1, x.end());
}

// Any order of the bits and any place of the separator, if both numbers keep a one. The probability of two numbers of
// a and b bits is 1 / ((2^a - 1) (2^b - 1)), not 2^-(a+b), so a draw is kept with a probability in proportion to the
// quotient, 1 / ((1 - 2^-a) (1 - 2^-b)), which is at most 4.
Tokens shuffled_two(const Tokens& input, Rng& rng) {
  Tokens bits = input;
  if (input.size() <= 2) {
    shuffle(bits, rng);
    return bits;
  }
  bits.erase(std::find(bits.begin(), bits.end(), separator));
  for (;;) {
    shuffle(bits, rng);
    const auto split = bits.begin() + rng.between(1, int(bits.size()) - 1);
    const double a = double(split - bits.begin()), b = double(bits.end() - split);
    const double kept = 1 / ((1 - std::exp2(-a)) * (1 - std::exp2(-b))) / 4;
    const bool positive = std::find(bits.begin(), split, 1) != split && std::find(split, bits.end(), 1) != bits.end();
    if (positive && rng.uniform() < kept) {
      bits.insert(split, separator);
      return bits;
    }
  }
}

}  // namespace

Task two_number_task(const std::string& sign, Task task) {
  task.symbols_in = task.symbols_out = 3;
  task.scored_slots = through_terminator;
  task.input = draw_two, task.shuffled = shuffled_two, task.fits = are_two;
  task.alphabet = {"0", "1", sign};
  task.form = fmt::format("two numbers of bits with a {0} between them, each with at least one 1, such as 11{0}01; "
                          "strings of one or two symbols are a single number", sign);
  return task;
}

std::pair<Natural, Natural> read_numbers(const Tokens& x) {
  const auto middle = std::find(x.begin(), x.end(), separator);
  return {from_bits({x.begin(), middle}), from_bits({middle + 1, x.end()})};
}

}  // namespace poslab
