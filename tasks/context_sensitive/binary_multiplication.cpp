// Binary multiplication, least significant bit first.   1 1 2 0 1 -> 0 1 1 2 0      (3 x 2 = 6)
//   y = bits of n m, without zeros on top, then 2, then zeros to L slots                 (spec B.2)
// A single number (L <= 2) has no product: the code answers 2 for L = 1 and 0 2 for L = 2, whatever the input.
#include "tasks/all.h"
#include "tasks/context_sensitive/two_numbers.h"

namespace poslab {
namespace {

struct BinaryMultiplication : TwoNumbers {
  std::string name() const override { return "binary_multiplication"; }
  std::string summary() const override { return "product of two numbers, lowest bit first  1 1 * 0 1 -> 0 1 1 2 0"; }
  std::string about() const override {
    return R"(The input is two binary numbers with a * between them, lowest bit first; the answer is their
product, lowest bit first, ended by a 2. Every bit of one number meets every bit of the other, and
carries go far. The zeros that fill the other slots do not count for accuracy.)";
  }
  std::string sign() const override { return "*"; }
  int output_length(int length) const override { return length; }

  Tokens answer(const Tokens& x) const override {
    const int slots = int(x.size());
    if (x.size() <= 2) return terminated(Tokens(x.size() - 1, 0), slots);
    const auto [n, m] = read(x);
    return terminated(to_bits(n * m), slots);
  }
};

}  // namespace

NewTask binary_multiplication() { return std::make_unique<BinaryMultiplication>(); }

}  // namespace poslab
