// A source's claims, each a difference that must be above zero, or near it: the same formula is applied to the source's
// own numbers.
#pragma once
#include "lab/papers/pivot.h"
#include "lab/papers/wording.h"

namespace poslab::reproduce {

// A number of ours by seed, and the source's; NaN where it prints none.
struct Beside {
  BySeed ours;
  double source;
};
Beside operator-(const Beside&, const Beside&);
Beside operator*(double, Beside);

// "holds" if the interval of the difference is above zero, or within +-within if that is not 0; "does not" if it is on
// the other side; otherwise "inconclusive".
std::string verdict(const BySeed& difference, double within);

// The cells of claims, and how many have which verdict.
class Verdicts {
 public:
  // The verdict, and below it the difference, in points or nats, its interval and the source's; the data are those of
  // by_seed_data, `within`, the source's number and the verdict. "–" of no seeds.
  Value cell(const Beside&, double within, bool in_nats = false);
  std::string reading() const;  // "Of 14 comparisons 9 hold, ..."
  std::string note() const;     // how a claim is judged

 private:
  std::map<std::string, int> count_;
};

}  // namespace poslab::reproduce
