// Binary addition, least significant bit first.   1 1 2 1 -> 0 0 1 2 0      (3 + 1 = 4)
//   y = bits of n + m, without high zeros, then 2, then zeros to L + 1 slots             (spec B.2)
// A single number (L <= 2) is its own sum; zero is a single 0.
#include "tasks/all.h"
#include "tasks/context_sensitive/two_numbers.h"

namespace poslab {
namespace {

Tokens sum_of_two(const Tokens& x) {
  const int slots = int(x.size()) + 1;
  if (x.size() <= 2) return terminated(to_bits(from_bits(x)), slots);
  const auto [n, m] = read_numbers(x);
  return terminated(to_bits(n + m), slots);
}

}  // namespace

Task binary_addition() {
  return two_number_task(
      "+", {.name = "binary_addition",
            .level = "context_sensitive",
            .summary = "sum of two numbers, lowest bit first  1 1 + 1 -> 0 0 1 2 0",
            .about = R"(The input is two binary numbers with a + between them, lowest bit first; the answer is their
sum, lowest bit first, ended by a 2. Bits of one value stand at different distances from the answer,
and carries go far. The zeros that fill the other slots do not count for accuracy.)",
            .output_length = [](int length) { return length + 1; },
            .answer = sum_of_two});
}

}  // namespace poslab
