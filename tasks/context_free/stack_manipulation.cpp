// Stack manipulation: a stack from bottom to top, then actions; answer the stack from top to bottom, 2, zeros.
//   0 1 1 POP PUSH0 -> 0 1 0 2 0 0      symbols 0, 1 stack, 2 POP, 3 PUSH0, 4 PUSH1       (spec B.2)
// Height uniform on 1 .. L-1, bits and actions uniform; one bit and no action if L = 1. POP of nothing: no change.
#include <algorithm>

#include "tasks/all.h"
#include "tasks/terminated.h"

namespace poslab {
namespace {

enum { pop = 2, push0, push1 };
bool is_bit(int symbol) { return symbol < pop; }

Tokens draw_stack(Rng& rng, int length) {
  const int height = length == 1 ? 1 : rng.between(1, length - 1);
  Tokens x;
  for (int i = 0; i < length; ++i) x.push_back(i < height ? rng.between(0, 1) : rng.between(pop, push1));
  return x;
}

// The number of bits is the height: bits change places with bits, actions with actions.
Tokens shuffled_stack(const Tokens& input, Rng& rng) {
  const auto first_action = std::find_if_not(input.begin(), input.end(), is_bit);
  Tokens x(input.begin(), first_action), actions(first_action, input.end());
  shuffle(x, rng), shuffle(actions, rng);
  x.insert(x.end(), actions.begin(), actions.end());
  return x;
}

Tokens stack_left(const Tokens& x) {
  Tokens stack;
  for (int symbol : x) {
    if (is_bit(symbol)) stack.push_back(symbol);
    else if (symbol != pop) stack.push_back(symbol - push0);
    else if (!stack.empty()) stack.pop_back();
  }
  return terminated({stack.rbegin(), stack.rend()}, int(x.size()) + 1);
}

}  // namespace

Task stack_manipulation() {
  return {.name = "stack_manipulation",
          .level = "context_free",
          .summary = "the stack after pops and pushes  0 1 1 POP PUSH0 -> 0 1 0 2 0 0",
          .about = R"(The input is a stack of bits, written from bottom to top, and then a list of actions on it:
POP takes the top bit away, PUSH0 and PUSH1 put one there; POP on an empty stack does nothing.
The answer is the stack that remains, from top to bottom, ended by a 2. The zeros that fill the
other slots do not count for accuracy.)",
          .symbols_in = 5,
          .symbols_out = 3,
          .output_length = [](int length) { return length + 1; },
          .answer = stack_left,
          .scored_slots = through_terminator,
          .input = draw_stack,
          .shuffled = shuffled_stack,
          .alphabet = {"0", "1", "POP", "PUSH0", "PUSH1"},
          .form = "one or more bits, then actions POP PUSH0 PUSH1, such as 0 1 POP PUSH1",
          .fits = [](const Tokens& x) { return is_bit(x[0]) && std::is_partitioned(x.begin(), x.end(), is_bit); }};
}

}  // namespace poslab
