// What a task is unless it says otherwise: independent uniform symbols, in which every order is as likely as any other.
#include "tasks/task.h"

#include <utility>

namespace poslab {

Tokens Task::input(Rng& rng, int length) const {
  Tokens x(size_t(length), 0);
  for (int& symbol : x) symbol = rng.between(0, symbols_in() - 1);
  return x;
}

Tokens Task::shuffled(const Tokens& input, Rng& rng) const {
  Tokens x = input;
  shuffle(x, rng);
  return x;
}

// From the last place down, each place takes one of those not yet placed (Fisher and Yates).
void shuffle(Tokens& x, Rng& rng) {
  for (size_t left = x.size(); left > 1; --left) std::swap(x[left - 1], x[rng.below(uint32_t(left))]);
}

}  // namespace poslab
