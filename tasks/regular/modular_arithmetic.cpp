// Modular arithmetic, simple: the value modulo 5 of digits joined by + - *, products first.   1 + 2 * 3 -> 2
//   symbols 0-4 digits, 5 +, 6 -, 7 *, 8 a blank that is never drawn                     (spec B.2)
// Digits and operators are independent and uniform. Such a string has an odd length: an even L is lowered to L - 1.
#include "tasks/all.h"

namespace poslab {
namespace {

enum { plus = 5, minus, times };

Tokens draw_sum(Rng& rng, int length) {
  Tokens x(size_t(length % 2 ? length : length - 1));
  for (size_t i = 0; i < x.size(); ++i) x[i] = i % 2 ? rng.between(plus, times) : rng.between(0, 4);
  return x;
}

// Digits change places with digits, operators with operators.
Tokens shuffled_sum(const Tokens& input, Rng& rng) {
  Tokens kinds[2];
  for (size_t i = 0; i < input.size(); ++i) kinds[i % 2].push_back(input[i]);
  for (Tokens& kind : kinds) shuffle(kind, rng);
  Tokens x(input.size());
  for (size_t i = 0; i < x.size(); ++i) x[i] = kinds[i % 2][i / 2];
  return x;
}

// sum of the finished terms, and the product that may still grow; reduced at every step, so nothing overflows
Tokens value_of_sum(const Tokens& x) {
  int sum = 0, product = x[0];
  for (size_t i = 1; i < x.size(); i += 2) {
    const int digit = x[i + 1];
    if (x[i] == times) {
      product = product * digit % 5;
    } else {
      sum = (sum + product) % 5;
      product = x[i] == plus ? digit : (5 - digit) % 5;
    }
  }
  return {(sum + product) % 5};
}

bool is_sum(const Tokens& x) {
  for (size_t i = 0; i < x.size(); ++i)
    if (i % 2 ? x[i] < plus || x[i] > times : x[i] >= plus) return false;
  return x.size() % 2 == 1;
}

}  // namespace

Task modular_arithmetic() {
  return {.name = "modular_arithmetic",
          .level = "regular",
          .summary = "value modulo 5 of digits joined by + - *  1 + 2 * 3 -> 2",
          .about = R"(The model reads a sum of products without brackets and answers with its value modulo 5.
Products bind more closely than sums, so it has to know which digits stand next to which signs.
Every input has an odd length; where an even length is requested, the task draws one symbol less.)",
          .symbols_in = 9,
          .symbols_out = 5,
          .output_length = always_one,
          .answer = value_of_sum,
          .input = draw_sum,
          .shuffled = shuffled_sum,
          .alphabet = {"0", "1", "2", "3", "4", "+", "-", "*", "_"},
          .form = "digits 0 to 4 joined by + - *, such as 1+2*3",
          .fits = is_sum};
}

}  // namespace poslab
