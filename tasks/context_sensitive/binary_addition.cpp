// Binary addition, least significant bit first.   1 1 2 1 -> 0 0 1 2 0      (3 + 1 = 4)
//   y = bits of n + m, without zeros on top, then 2, then zeros to L + 1 slots           (spec B.2)
// A single number (L <= 2) is its own sum; zero is the one bit 0.
#include "tasks/all.h"
#include "tasks/context_sensitive/two_numbers.h"

namespace poslab {
namespace {

struct BinaryAddition : TwoNumbers {
  std::string name() const override { return "binary_addition"; }
  std::string summary() const override { return "sum of two numbers, lowest bit first  1 1 + 1 -> 0 0 1 2 0"; }
  std::string about() const override {
    return R"(The input is two binary numbers with a + between them, lowest bit first; the answer is their sum,
lowest bit first, ended by a 2. Bits of one value stand at different distances from the answer, and
carries go far. The zeros that fill the other slots do not count for accuracy.)";
  }
  std::string sign() const override { return "+"; }
  int output_length(int length) const override { return length + 1; }

  Tokens answer(const Tokens& x) const override {
    const int slots = int(x.size()) + 1;
    if (x.size() <= 2) return terminated(to_bits(from_bits(x)), slots);
    const auto [n, m] = read(x);
    return terminated(to_bits(n + m), slots);
  }
};

}  // namespace

NewTask binary_addition() { return std::make_unique<BinaryAddition>(); }

}  // namespace poslab
