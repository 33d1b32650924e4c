// Whether numbers that name rows or classes are in range: ops look at every one of them in each step.
#pragma once
#include <algorithm>

#include "core/tensor.h"

namespace poslab {

// The place of the first number that is not in 0 .. end - 1, or -1. Nearly always there is none, which one pass without
// branches finds out, several numbers at a time.
inline int64_t first_outside(const Ids& numbers, int end) {
  const int* at = numbers.data();
  const int64_t n = numbers.size();
  const auto outside = [end](int number) { return unsigned(number) >= unsigned(end); };    // negative ones are large
  unsigned any = 0;
  for (int64_t i = 0; i < n; ++i) any |= unsigned(outside(at[i]));
  return any ? std::find_if(at, at + n, outside) - at : -1;
}

}  // namespace poslab
