// What binary addition and multiplication share: two numbers n 2 m, each with its least significant bit first.
//   |n| uniform on 1 .. L-2, |m| = L-1-|n|, each value uniform on 1 .. 2^bits - 1                 (spec B.2)
// L <= 2 has no room for two: a single number, uniform on 0 .. 2^L - 2, so 0 for L = 1 and never 3 for L = 2.
#pragma once
#include <utility>

#include "tasks/bignum.h"
#include "tasks/terminated.h"

namespace poslab {

struct TwoNumbers : Task {
  std::string level() const override { return "context_sensitive"; }
  int symbols_in() const override { return 3; }
  int symbols_out() const override { return 3; }
  std::vector<std::string> alphabet() const override { return {"0", "1", sign()}; }
  std::string form() const override;
  bool fits(const Tokens&) const override;
  virtual std::string sign() const = 0;                     // between the numbers: + or *
  int scored_slots(const Tokens& answer) const override { return through_terminator(answer); }
  Tokens input(Rng&, int length) const override;
  Tokens shuffled(const Tokens& input, Rng&) const override;
  static std::pair<Natural, Natural> read(const Tokens&);   // of at least three symbols
};

}  // namespace poslab
