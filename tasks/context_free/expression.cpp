// Draws, evaluates and shuffles the bracketed expressions of spec B.2.
#include "tasks/context_free/expression.h"

#include <algorithm>

#include "core/error.h"
#include "core/stop.h"

namespace poslab {
namespace {

// An expression in which every digit is 0 and every operator is +: the only minuses are before digits.
void draw_shape(Tokens& x, Rng& rng, int length, const Signs& s) {
  if (length == 1) x.insert(x.end(), {0});
  else if (length == 2) x.insert(x.end(), {s.minus, 0});
  else if (length == 3) x.insert(x.end(), {s.open, 0, s.close});
  else if (length == 4) x.insert(x.end(), {s.open, s.minus, 0, s.close});
  else {
    const int left = rng.between(1, length - 4);
    x.push_back(s.open);
    draw_shape(x, rng, left, s);
    x.push_back(s.plus);
    draw_shape(x, rng, length - 3 - left, s);
    x.push_back(s.close);
  }
}

// Reads one operand from `at` on: d, -d, or ( operand ) or ( operand op operand ). Returns the value, modulo 5
// after every step; -1 if there is none.
struct Reader {
  const Tokens& x;
  const Signs& s;
  size_t at = 0;

  int next() { return at < x.size() ? x[at++] : -1; }

  int operand() {
    const int symbol = next();
    if (is_digit(symbol)) return symbol;
    if (symbol == s.minus) {
      const int digit = next();
      return is_digit(digit) ? (5 - digit) % 5 : -1;
    }
    if (symbol != s.open) return -1;
    const int left = operand(), sign = left < 0 ? -1 : next();
    if (sign == s.close) return left;
    if (sign < 0 || (sign != s.plus && sign != s.minus && sign != s.times)) return -1;
    const int right = operand();
    if (right < 0 || next() != s.close) return -1;
    return (sign == s.plus ? left + right : sign == s.minus ? left + 5 - right : left * right) % 5;
  }
};

// Whether symbol i is a sign between two operands, not the minus before a digit.
bool is_operator(const Tokens& x, size_t i, const Signs& s) {
  const bool after_operand = i > 0 && (is_digit(x[i - 1]) || x[i - 1] == s.close);
  return after_operand && (x[i] == s.plus || x[i] == s.minus || x[i] == s.times);
}

}  // namespace

Tokens draw_expression(Rng& rng, int length, const Signs& s) {
  const int operators[] = {s.plus, s.minus, s.times};
  Tokens x;
  draw_shape(x, rng, length, s);
  for (int& symbol : x) {
    if (is_digit(symbol)) symbol = rng.between(0, 4);
    else if (symbol == s.plus) symbol = operators[rng.below(s.times < 0 ? 2 : 3)];
  }
  return x;
}

std::optional<int> value_of(const Tokens& x, const Signs& s) {
  Reader reader{x, s};
  const int v = reader.operand();
  return v >= 0 && reader.at == x.size() ? std::optional(v) : std::nullopt;
}

int value(const Tokens& x, const Signs& s) {
  const std::optional<int> v = value_of(x, s);
  if (!v) bad_input("these {} symbols are no expression of digits 0-4, signs and brackets", x.size());
  return *v;
}

// Shapes of this length are drawn until one has the same number of digits and of minuses before digits; the number of
// brackets follows. Digits and operators are then equally likely in any order. The mean number of draws is the number
// of such pairs that occur: 56 at 100 symbols, 240 at 500.
Tokens shuffled_expression(const Tokens& expression, Rng& rng, const Signs& s) {
  Tokens digits, operators;
  for (size_t i = 0; i < expression.size(); ++i) {
    if (is_digit(expression[i])) digits.push_back(expression[i]);
    else if (is_operator(expression, i, s)) operators.push_back(expression[i]);
  }
  const auto minuses = [&](const Tokens& x) { return std::count(x.begin(), x.end(), s.minus); };
  const auto negations = minuses(expression) - minuses(operators);

  Tokens x;
  do {
    stop_if_requested();
    x.clear();
    draw_shape(x, rng, int(expression.size()), s);
  } while (std::count(x.begin(), x.end(), 0) != std::ssize(digits) || minuses(x) != negations);

  shuffle(digits, rng), shuffle(operators, rng);
  auto digit = digits.begin(), sign = operators.begin();
  for (int& symbol : x) {
    if (is_digit(symbol)) symbol = *digit++;
    else if (symbol == s.plus) symbol = *sign++;
  }
  return x;
}

}  // namespace poslab
