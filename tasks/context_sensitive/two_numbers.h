// The shared input of binary addition and multiplication: two numbers n 2 m, each with its least significant bit first.
//   |n| uniform on 1 .. L-2, |m| = L-1-|n|, each value uniform on 1 .. 2^bits - 1                 (spec B.2)
// L <= 2 has no room for two: a single number, uniform on 0 .. 2^L - 2, so 0 for L = 1 and never 3 for L = 2.
#pragma once
#include <utility>

#include "tasks/bignum.h"
#include "tasks/terminated.h"

namespace poslab {

Task two_number_task(const std::string& sign, Task);         // + or * between them, which is symbol 2
std::pair<Natural, Natural> read_numbers(const Tokens& input);  // the input has at least three symbols

}  // namespace poslab
