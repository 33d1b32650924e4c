// See task_oracle.h. Machine integers, a parser for ordinary expressions, distributions as products and mixtures.
#include "tests/tasks/task_oracle.h"

#include <algorithm>

namespace poslab::testing {
namespace {

Law each(const std::string& symbols, int n) {   // all strings of n symbols
  Law law{{"", 1.0}};
  for (int i = 0; i < n; ++i) {
    Law longer;
    for (const auto& [text, p] : law)
      for (char c : symbols) longer[text + c] += p / double(symbols.size());
    law = longer;
  }
  return law;
}
Law joined(const Law& a, const Law& b) {
  Law law;
  for (const auto& [x, p] : a)
    for (const auto& [y, q] : b) law[x + y] += p * q;
  return law;
}
void mix(Law& law, double weight, const Law& part) {
  for (const auto& [text, p] : part) law[text] += weight * p;
}
Law sure(const std::string& text) { return {{text, 1.0}}; }

// Numbers

std::string binary(uint64_t x, size_t at_least) {  // lowest bit first
  std::string text;
  for (; x || text.empty() || text.size() < at_least; x /= 2) text += char('0' + x % 2);
  return text;
}
uint64_t number(const std::string& lowest_first) {
  uint64_t x = 0;
  for (size_t i = 0; i < lowest_first.size(); ++i) if (lowest_first[i] == '1') x += uint64_t(1) << i;
  return x;
}
Law values(uint64_t from, uint64_t to, int bits) {
  Law law;
  for (uint64_t x = from; x <= to; ++x) law[binary(x, size_t(bits))] = 1.0 / double(to - from + 1);
  return law;
}
Law two_numbers(int length) {
  if (length == 1) return sure("0");
  if (length == 2) return values(0, 2, 2);
  Law law;
  for (int n = 1; n <= length - 2; ++n) {
    const int m = length - 1 - n;
    mix(law, 1.0 / (length - 2), joined(joined(values(1, (1u << n) - 1, n), sure("#")), values(1, (1u << m) - 1, m)));
  }
  return law;
}
std::string ended(std::string result, size_t slots) {
  result += '2';
  return result + std::string(slots - result.size(), '0');
}

// Expressions

// sum: product {(+|-) product};  product: factor {* factor};  factor: digit, -factor, (sum)       with exact integers
struct Calculator {
  std::string text;
  size_t at = 0;
  char peek() const { return at < text.size() ? text[at] : '$'; }
  __int128 sum() {
    __int128 v = product();
    while (peek() == '+' || peek() == '-') v = text[at++] == '+' ? v + product() : v - product();
    return v;
  }
  __int128 product() {
    __int128 v = factor();
    while (peek() == '*') ++at, v *= factor();
    return v;
  }
  __int128 factor() {
    if (peek() == '-') return ++at, -factor();
    if (peek() != '(') return text[at++] - '0';
    ++at;
    const __int128 v = sum();
    return ++at, v;
  }
};
std::string modulo5(const std::string& expression) {
  const int rest = int(Calculator{expression}.sum() % 5);
  return std::string(1, char('0' + (rest + 5) % 5));
}

Law brackets(int length, const std::string& operators) {
  const Law digit = each("01234", 1);
  if (length == 1) return digit;
  if (length == 2) return joined(sure("-"), digit);
  Law inside;
  if (length <= 4) inside = brackets(length - 2, operators);
  else
    for (int left = 1; left <= length - 4; ++left)
      mix(inside, 1.0 / (length - 4),
          joined(joined(brackets(left, operators), each(operators, 1)), brackets(length - 3 - left, operators)));
  return joined(joined(sure("("), inside), sure(")"));
}

Law equations(int length) {
  if (length < 3) return sure(std::string(size_t(length), '0'));
  Law law;
  for (const auto& [expression, p] : brackets(length - 2, "+-"))
    for (size_t start = 0; start < expression.size(); ++start) {
      std::string equation = expression;
      equation[(expression + expression).find_first_of("01234", start) % expression.size()] = 'x';
      law[equation + "=" + modulo5(expression)] += p / double(expression.size());
    }
  return law;
}
std::string solutions(const std::string& equation) {   // all solutions; there must be one
  if (equation.size() < 3) return "0";
  std::string found;
  for (char digit = '0'; digit < '5'; ++digit) {
    std::string tried = equation.substr(0, equation.size() - 2);
    std::replace(tried.begin(), tried.end(), 'x', digit);
    if (modulo5(tried)[0] == equation.back()) found += digit;
  }
  return found;
}

// Strings

Law with_hole(int length) {
  if (length == 1) return sure("1");
  Law law;
  for (const auto& [half, p] : each("01", length / 2))
    for (size_t hole = 0; hole < 2 * half.size(); ++hole) {
      std::string text = half + half;
      text[hole] = '?';
      law[text + (length % 2 ? "_" : "")] += p / double(2 * half.size());
    }
  return law;
}
std::string fillings(std::string text) {   // all bits that make the string a half repeated twice
  if (text.size() == 1) return "1";
  if (text.back() == '_') text.pop_back();
  std::string found;
  for (char bit : {'0', '1'}) {
    std::string tried = text;
    std::replace(tried.begin(), tried.end(), '?', bit);
    if (tried.substr(0, tried.size() / 2) == tried.substr(tried.size() / 2)) found += bit;
  }
  return found;
}

Law stacks(int length) {
  if (length == 1) return each("01", 1);
  Law law;
  for (int height = 1; height < length; ++height)
    mix(law, 1.0 / (length - 1), joined(each("01", height), each("pab", length - height)));
  return law;
}
std::string stack_left(const std::string& text) {   // the top of the stack comes first
  std::string stack;
  for (char c : text) {
    if (c == 'p') stack = stack.empty() ? "" : stack.substr(1);
    else stack = (c == 'a' ? '0' : c == 'b' ? '1' : c) + stack;
  }
  return ended(stack, text.size() + 1);
}

std::string walk(const std::string& steps) {
  std::string circle = "01234";   // rotated so that the current position comes first
  for (char c : steps) {
    if (c == '2') std::rotate(circle.begin(), circle.begin() + 1, circle.end());
    if (c == '0') std::rotate(circle.begin(), circle.end() - 1, circle.end());
  }
  return circle.substr(0, 1);
}

std::string unequal_pairs(const std::string& x) {
  int pairs = 0;
  for (size_t i = 0; i + 1 < x.size(); ++i) pairs += x[i] != x[i + 1];
  return pairs % 2 ? "1" : "0";
}

}  // namespace

const std::vector<Oracle>& oracles() {
  using S = const std::string&;
  const auto bits = [](int n) { return each("01", n); };
  static const std::vector<Oracle> all = {
      {"even_pairs", "01", 12, 8, bits, unequal_pairs},
      {"modular_arithmetic", "01234+-*_", 8, 6,
       [](int n) {
         Law law = each("01234", 1);
         for (int i = 3; i <= n; i += 2) law = joined(joined(law, each("+-*", 1)), each("01234", 1));
         return law;
       }, modulo5},
      {"parity_check", "01", 12, 8, bits, [](S x) { return std::count(x.begin(), x.end(), '1') & 1 ? "1" : "0"; }},
      {"cycle_navigation", "012", 8, 6, [](int n) { return each("012", n); }, walk},
      {"stack_manipulation", "01pab", 8, 6, stacks, stack_left},
      {"reverse_string", "01", 12, 8, bits, [](S x) { std::string y; for (char c : x) y = c + y; return y; }},
      {"modular_arithmetic_brackets", "01234+-*()x", 10, 9, [](int n) { return brackets(n, "+-*"); }, modulo5},
      {"solve_equation", "01234+-()x=", 12, 10, equations, solutions},
      {"duplicate_string", "01", 12, 8, bits, [](S x) { return x + x; }},
      {"missing_duplicate_string", "01?_", 13, 9, with_hole, fillings},
      {"odds_first", "01", 12, 8, bits,
       [](S x) {
         std::string even, odd;
         for (size_t slot = 1; slot <= x.size(); ++slot) (slot % 2 ? odd : even) += x[slot - 1];
         return even + odd;
       }},
      {"binary_addition", "01#", 12, 8, two_numbers,
       [](S x) {
         const size_t middle = x.find('#');
         if (middle == x.npos) return ended(binary(number(x), 1), x.size() + 1);
         return ended(binary(number(x.substr(0, middle)) + number(x.substr(middle + 1)), 1), x.size() + 1);
       }},
      {"binary_multiplication", "01#", 12, 8, two_numbers,
       [](S x) {
         const size_t middle = x.find('#');
         if (middle == x.npos) return std::string(x.size() == 1 ? "2" : "02");
         return ended(binary(number(x.substr(0, middle)) * number(x.substr(middle + 1)), 1), x.size());
       }},
      {"compute_sqrt", "01", 12, 8,
       [](int n) {
         Law law;
         for (const auto& [text, p] : values(1, (1u << n) - 1, n)) law[std::string(text.rbegin(), text.rend())] = p;
         return law;
       },
       [](S x) {
         uint64_t root = 0;
         while ((root + 1) * (root + 1) <= number({x.rbegin(), x.rend()})) ++root;
         const std::string text = binary(root, (x.size() + 1) / 2);
         return std::string(text.rbegin(), text.rend());
       }},
      {"bucket_sort", "01234", 6, 4, [](int n) { return each("01234", n); },
       [](S x) {
         std::string y;
         for (char c : {'0', '1', '2', '3', '4'}) y += std::string(size_t(std::count(x.begin(), x.end(), c)), c);
         return y;
       }},
  };
  return all;
}

}  // namespace poslab::testing
