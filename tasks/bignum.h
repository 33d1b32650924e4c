// Natural numbers of any size, for the binary tasks: 500 bits, and their products. Leaves out what no task needs:
// division, signs, decimal digits.
#pragma once
#include <cstdint>
#include <vector>

#include "tasks/task.h"

namespace poslab {

// sum_k limbs[k] 2^(32 k), no zero limb on top: zero has no limbs.
struct Natural {
  std::vector<uint32_t> limbs;
  bool operator==(const Natural&) const = default;
};

Natural from_bits(const Tokens& least_significant_first);
Tokens to_bits(const Natural&);                   // least significant first; no zeros on top, zero is {0}
Natural operator+(const Natural&, const Natural&);
Natural operator-(const Natural&, const Natural&);  // a - b for b <= a
Natural operator*(const Natural&, const Natural&);
bool operator<=(const Natural&, const Natural&);
Natural isqrt(const Natural&);                    // the largest s with s * s <= x

}  // namespace poslab
