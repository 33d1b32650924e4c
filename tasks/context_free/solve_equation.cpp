// Solve equation: the digit x, modulo 5.   ( 3 - x ) = 4 -> 4
//   symbols 0-4 digits, 5 +, 6 -, 7 (, 8 ), 9 x, 10 =                                    (spec B.2)
// An expression of L-2 symbols without products, so x is unique. The hidden digit is the first one from a uniform place
// to the right, continued at the left end. L < 3 has no room: the input is zeros and the answer is 0.
#include <algorithm>
#include <utility>

#include "core/error.h"
#include "tasks/all.h"
#include "tasks/context_free/expression.h"

namespace poslab {
namespace {

constexpr Signs equation_signs{.plus = 5, .minus = 6, .times = -1, .open = 7, .close = 8};
enum { unknown_digit = 9, equals };

// Puts x in the place of a digit of the expression and returns that digit.
int hide(Tokens& expression, Rng& rng) {
  size_t at = rng.below(uint32_t(expression.size()));
  while (!is_digit(expression[at])) at = (at + 1) % expression.size();
  return std::exchange(expression[at], unknown_digit);
}

// zeros for L < 3
Tokens draw_equation(Rng& rng, int length) {
  if (length < 3) return Tokens(size_t(length), 0);
  Tokens x = draw_expression(rng, length - 2, equation_signs);
  const int v = value(x, equation_signs);
  hide(x, rng);
  x.insert(x.end(), {equals, v});
  return x;
}

// The string shows all digits of the expression but one, and its value: exactly one x fits any digits there, so
// all are equally likely, and the value is shuffled among the digits.
Tokens shuffled_equation(const Tokens& input, Rng& rng) {
  if (input.size() < 3) return input;
  Tokens expression(input.begin(), input.end() - 2);
  std::replace(expression.begin(), expression.end(), int(unknown_digit), input.back());
  Tokens x = shuffled_expression(expression, rng, equation_signs);
  const int v = hide(x, rng);
  x.insert(x.end(), {equals, v});
  return x;
}

Tokens solution(const Tokens& x) {
  if (x.size() < 3) return {0};
  Tokens expression(x.begin(), x.end() - 2);
  const auto place = std::find(expression.begin(), expression.end(), unknown_digit);
  for (int digit = 0; digit < 5 && place != expression.end(); ++digit) {
    *place = digit;
    if (value(expression, equation_signs) == x.back()) return {digit};
  }
  bad_input("solve_equation: these {} symbols are not an expression with one x, =, and a digit", x.size());
}

bool is_equation(const Tokens& x) {
  if (x.size() < 3) return std::count(x.begin(), x.end(), 0) == std::ssize(x);
  Tokens expression(x.begin(), x.end() - 2);
  if (std::count(expression.begin(), expression.end(), unknown_digit) != 1) return false;
  std::replace(expression.begin(), expression.end(), int(unknown_digit), 0);
  return x[x.size() - 2] == equals && is_digit(x.back()) && value_of(expression, equation_signs).has_value();
}

}  // namespace

Task solve_equation() {
  return {.name = "solve_equation",
          .level = "context_free",
          .summary = "the digit x of an equation modulo 5  (3-x)=4 -> 4",
          .about = R"(The model reads an equation modulo 5 in which one digit is hidden behind an x, and answers
with that digit. The left side is an expression with brackets, sums and differences; the
right side is its value. There are no products, so exactly one digit is right.)",
          .symbols_in = 11,
          .symbols_out = 5,
          .output_length = always_one,
          .answer = solution,
          .input = draw_equation,
          .shuffled = shuffled_equation,
          .alphabet = {"0", "1", "2", "3", "4", "+", "-", "(", ")", "x", "="},
          .form = "an expression of digits 0 to 4, brackets and + - with one x, then = and a digit, such as (3-x)=4",
          .fits = is_equation};
}

}  // namespace poslab
