// Modular arithmetic with brackets: the value modulo 5.   ( 3 - ( - 4 ) ) -> 2
//   symbols 0-4 digits, 5 +, 6 -, 7 *, 8 (, 9 ), 10 an x that is never drawn             (spec B.2)
// Products make 0 the most frequent value, 30.3 %.
#include "tasks/all.h"
#include "tasks/context_free/expression.h"

namespace poslab {
namespace {

constexpr Signs signs{.plus = 5, .minus = 6, .times = 7, .open = 8, .close = 9};

struct ModularArithmeticBrackets : Task {
  std::string name() const override { return "modular_arithmetic_brackets"; }
  std::string level() const override { return "context_free"; }
  std::string summary() const override { return "value modulo 5 of an expression with brackets  (3-(-4)) -> 2"; }
  std::string about() const override {
    return R"(The model reads an expression with brackets and answers with its value modulo 5.
Operands are digits, negated digits or smaller expressions in brackets, so the model has to find
out which brackets belong together. Products make 0 the most frequent value (30.3 %).)";
  }
  int symbols_in() const override { return 11; }
  int symbols_out() const override { return 5; }
  int output_length(int) const override { return 1; }
  Tokens input(Rng& rng, int length) const override { return draw_expression(rng, length, signs); }
  Tokens shuffled(const Tokens& input, Rng& rng) const override { return shuffled_expression(input, rng, signs); }
  Tokens answer(const Tokens& x) const override { return {value(x, signs)}; }

  std::vector<std::string> alphabet() const override {
    return {"0", "1", "2", "3", "4", "+", "-", "*", "(", ")", "x"};
  }
  std::string form() const override {
    return "digits 0 to 4, a minus before a digit, and operands joined by + - * in brackets, such as (3-(-4))";
  }
  bool fits(const Tokens& x) const override { return value_of(x, signs).has_value(); }
};

}  // namespace

NewTask modular_arithmetic_brackets() { return std::make_unique<ModularArithmeticBrackets>(); }

}  // namespace poslab
