// Modular arithmetic with brackets: the value modulo 5.   ( 3 - ( - 4 ) ) -> 2
//   symbols 0-4 digits, 5 +, 6 -, 7 *, 8 (, 9 ), 10 an x that is never drawn             (spec B.2)
// Products make 0 the most frequent value, 31.0 %.
#include "tasks/all.h"
#include "tasks/context_free/expression.h"

namespace poslab {
namespace {

constexpr Signs signs{.plus = 5, .minus = 6, .times = 7, .open = 8, .close = 9};

}  // namespace

Task modular_arithmetic_brackets() {
  return {.name = "modular_arithmetic_brackets",
          .level = "context_free",
          .summary = "value modulo 5 of an expression with brackets  (3-(-4)) -> 2",
          .about = R"(The model reads an expression with brackets and answers with its value modulo 5.
Operands are digits, negated digits or smaller expressions in brackets, so the model has to find
out which brackets belong together. Products make 0 the most frequent value (31.0 %).)",
          .symbols_in = 11,
          .symbols_out = 5,
          .output_length = always_one,
          .answer = [](const Tokens& x) -> Tokens { return {value(x, signs)}; },
          .input = [](Rng& rng, int length) { return draw_expression(rng, length, signs); },
          .shuffled = [](const Tokens& x, Rng& rng) { return shuffled_expression(x, rng, signs); },
          .alphabet = {"0", "1", "2", "3", "4", "+", "-", "*", "(", ")", "x"},
          .form = "digits 0 to 4, a minus before a digit, and operands joined by + - * in brackets, such as (3-(-4))",
          .fits = [](const Tokens& x) { return value_of(x, signs).has_value(); }};
}

}  // namespace poslab
