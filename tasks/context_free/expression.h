// Expressions modulo 5 with all brackets written, as both bracket tasks draw them (spec B.2):
//   length   1: d   2: -d   3: (d)   4: (-d)   5 and more: ( left op right ), |left| uniform on 1 .. length-4
// Digits and operators are uniform and independent. The two tasks give the signs different symbols.
#pragma once
#include <optional>

#include "tasks/task.h"

namespace poslab {

struct Signs { int plus, minus, times, open, close; };   // times < 0: sums and differences only
inline bool is_digit(int symbol) { return 0 <= symbol && symbol < 5; }

Tokens draw_expression(Rng&, int length, const Signs&);
std::optional<int> value_of(const Tokens& expression, const Signs&);   // in 0 .. 4; none for a malformed expression
int value(const Tokens& expression, const Signs&);                     // throws BadInput instead

// Another draw from draw_expression's distribution, with the same number of each symbol.
Tokens shuffled_expression(const Tokens& expression, Rng&, const Signs&);

}  // namespace poslab
