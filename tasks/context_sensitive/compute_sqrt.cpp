// Square root, most significant bit first.   1 0 0 1 0 1 -> 1 1 0      (37 -> 6)
//   y = bits of floor(sqrt(x)), zeros in front to ceil(L/2) slots; x uniform on 1 .. 2^L - 1      (spec B.2)
#include <algorithm>

#include "tasks/all.h"
#include "tasks/bignum.h"

namespace poslab {
namespace {

struct ComputeSqrt : Task {
  std::string name() const override { return "compute_sqrt"; }
  std::string level() const override { return "context_sensitive"; }
  std::string summary() const override { return "floor of the square root, highest bit first  1 0 0 1 0 1 -> 1 1 0"; }
  std::string about() const override {
    return R"(The input is a binary number, highest bit first; the answer is the largest whole number whose square
is not larger, highest bit first, with zeros in front.)";
  }
  int symbols_in() const override { return 2; }
  int symbols_out() const override { return 2; }
  int output_length(int length) const override { return (length + 1) / 2; }

  Tokens input(Rng& rng, int length) const override {
    Tokens x = Task::input(rng, length);
    while (std::find(x.begin(), x.end(), 1) == x.end()) x = Task::input(rng, length);
    return x;
  }

  Tokens answer(const Tokens& x) const override {
    Tokens root = to_bits(isqrt(from_bits({x.rbegin(), x.rend()})));
    root.resize(size_t(output_length(int(x.size()))), 0);
    return {root.rbegin(), root.rend()};
  }

  std::string form() const override { return "bits with at least one 1, such as 100101"; }
  bool fits(const Tokens& x) const override { return std::count(x.begin(), x.end(), 1) > 0; }
};

}  // namespace

NewTask compute_sqrt() { return std::make_unique<ComputeSqrt>(); }

}  // namespace poslab
