// Which kernels compute a call of attention, forward and backward, and the arrays that they pass to each other.
#pragma once
#include "cuda/driver.h"
#include "cuda/logits.cuh"

namespace poslab::cuda {

// Arrays that the backward pass leaves in memory for the sums over the batch; null: not needed. p and u as in
// cuda/logits.cuh.
struct LogitGrads {
  real* du = nullptr;               // du_ij                      (batch, heads, keys, to - from)
  real* dgain = nullptr;            // du_ij p_ij                 the same
  real* dtemperature = nullptr;     // sum_j ds_ij u_ij           (batch, heads, queries)
  FIELDS(LogitGrads, du, dgain, dtemperature)
};
// A backward pass over some sequences.
struct AttentionPass {
  AttentionGrads d;
  AttentionArgs x;
  const real *d_o = nullptr, *o = nullptr, *stats = nullptr;
  LogitGrads wanted;
};

// The route on tensor cores (cuda/attention_wide.cu), for queries from .. to of the pass.
namespace wide {
constexpr int most_channels = 128;
void attention(real* o, real* stats, const AttentionArgs&);
void backward(const AttentionPass&, int from, int to);
}  // namespace wide

//   wide      heads of more than 8 channels and up to 128, all terms but q_rel and biases of queries: on tensor cores
//   tiles     up to 256 channels, all terms (cuda/attention.cu, cuda/attention_backward.cu); made for heads of 8
//             channels
//   general   everything (cuda/attention_general.cuh)
enum class Route { wide, tiles, general };

// On the route `tiles`, a block's threads add to dq, dk and dv at the same index at different times, so these must be
// different arrays.
inline bool distinct(const AttentionGrads& d) {
  for (const Accumulator& k : d.k) {
    if (k && k.at == d.v.at) return false;
    for (const Accumulator& q : d.q)
      if ((q && (q.at == k.at || q.at == d.v.at))) return false;
    if (d.q_rel && (d.q_rel.at == k.at || d.q_rel.at == d.v.at)) return false;
  }
  return true;
}

// d: the gradients of a backward pass
inline Route route_of(const AttentionArgs& x, const AttentionGrads& d = {}) {
  const int channels = channels_of(x);
  const bool bare = !x.q_rel && !x.q_bias && sizeof(real) == sizeof(float) && driver::has_tensor_cores();
  if (bare && channels > lane_channels && channels <= wide::most_channels) return Route::wide;
  return channels <= max_channels && distinct(d) ? Route::tiles : Route::general;
}

}  // namespace poslab::cuda
