// Binary multiplication, least significant bit first.   1 1 2 0 1 -> 0 1 1 2 0      (3 x 2 = 6)
//   y = bits of n m, without high zeros, then 2, then zeros to L slots                   (spec B.2)
// A single number (L <= 2) has no product: the code answers 2 for L = 1 and 0 2 for L = 2, whatever the input.
#include "tasks/all.h"
#include "tasks/context_sensitive/two_numbers.h"

namespace poslab {
namespace {

Tokens product_of_two(const Tokens& x) {
  const int slots = int(x.size());
  if (x.size() <= 2) return terminated(Tokens(x.size() - 1, 0), slots);
  const auto [n, m] = read_numbers(x);
  return terminated(to_bits(n * m), slots);
}

}  // namespace

Task binary_multiplication() {
  return two_number_task(
      "*", {.name = "binary_multiplication",
            .level = "context_sensitive",
            .summary = "product of two numbers, lowest bit first  1 1 * 0 1 -> 0 1 1 2 0",
            .about = R"(The input is two binary numbers with a * between them, lowest bit first; the answer is their
product, lowest bit first, ended by a 2. Every bit of one number multiplies every bit of the other,
and carries go far. The zeros that fill the other slots do not count for accuracy.)",
            .output_length = as_long_as_input,
            .answer = product_of_two});
}

}  // namespace poslab
