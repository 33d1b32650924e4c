// The largest of several numbers and its index, for max.cu and top_k.cu.
#pragma once
#include "cuda/rows.cuh"

namespace poslab::cuda {

struct Found { real value; int at; };

// Whether a ranks before b: NaN before all numbers, then the larger one, then the one further left.
__device__ inline bool before(const Found& a, const Found& b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan != b_nan) return a_nan;
  return a.value > b.value || ((a_nan || a.value == b.value) && a.at < b.at);
}

// The largest over a team of 8 lanes or a warp; every lane gets the result.
template <int team>
__device__ inline Found team_largest(Found top) {
  for (int away = team / 2; away > 0; away /= 2) {
    const Found other{__shfl_xor_sync(0xFFFFFFFFu, top.value, away), __shfl_xor_sync(0xFFFFFFFFu, top.at, away)};
    if (before(other, top)) top = other;
  }
  return top;
}

}  // namespace poslab::cuda
