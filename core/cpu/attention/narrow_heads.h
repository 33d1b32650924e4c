// Attention of heads with few channels: here queries, not keys, lie along the vector lanes. The channels of a key are
// broadcast to a whole vector of queries, maxima and sums need no operation across lanes, and no vector is half empty
// because a head is narrow. The formulas are in forward.cpp and backward.cpp.
//
//   lane l of block n is query n lanes + l          for each key j:   s = sum_c q_c k_jc   o_c += exp(s - max) v_jc
//
// Only for a single piece that holds all pairs, without key lengths, temperature, gain, relative keys or a pair table.
#pragma once
#include "core/cpu/attention/logits.h"

namespace poslab::POSLAB_ISA {

constexpr int narrow_channels = 8;                 // of a head: 8 heads, d_model = 64 in the papers' encoders

inline bool is_narrow(const AttentionArgs& x) {
  const AttentionPiece& p = x.piece[0];
  const bool all_pairs = x.pieces == 1 && p.from <= -far && p.to >= far && p.first <= 0 && p.end >= far;
  return all_pairs && x.head_dim == narrow_channels && x.value_dim == narrow_channels && x.kv_heads == x.heads &&
         x.queries >= lanes && x.keys <= Tiling::max_keys && !x.key_lengths && !x.temperature && !x.gain && !x.q_rel &&
         !x.pairs;
}

// The backward pass holds 24 vectors at once, and the weights and gradients of all pairs of a head: it is for
// processors with 32 registers, and for sizes that stay in the cache.
inline bool is_narrow_backward(const AttentionArgs& x) {
  return registers == 32 && lanes >= 8 && is_narrow(x) && int64_t(x.queries) * x.keys <= 128 * 1024;
}

// One head of one sequence. C: its channels. Rows of q, k, v and o are `step` reals apart.
struct NarrowHead {
  static constexpr int C = narrow_channels;
  const AttentionArgs& x;
  const int b, head, step = x.heads * C, blocks = (x.queries + lanes - 1) / lanes;
  const real* bias;                                // query i and key j have bias[i - j + keys - 1]; or null

  int64_t query(int i) const { return ((int64_t(b) * x.queries + i) * x.heads + head) * C; }
  int64_t key(int j) const { return ((int64_t(b) * x.keys + j) * x.heads + head) * C; }
  int count(int block) const { return smaller(lanes, x.queries - block * lanes); }   // queries in a block
  int slot(int block) const { return x.offset + block * lanes; }                     // slot of its first query
  // The keys that some query of a block sees, and the keys that all of them see.
  int seen(int block) const { return x.causal ? smaller(x.keys, slot(block) + count(block)) : x.keys; }
  int seen_by_all(int block) const { return x.causal ? larger(0, smaller(x.keys, slot(block) + 1)) : x.keys; }

  // Turns rows of C reals, times factor, into C vectors with a lane for each query, 0 after the last query.
  void columns(Vec* to, const real* rows, int block, real factor) const {
    real* at = reinterpret_cast<real*>(to);
    if (count(block) < lanes) __builtin_memset(at, 0, C * lanes * sizeof(real));
    transpose_rows(
        count(block), C, [=, this](int i) { return rows + int64_t(i) * step; }, factor, at, lanes);
  }
  // The reverse: stores the vectors times factor in the rows, or adds them if add.
  void rows(real* to, bool add, const Vec* from, int block, real factor) const {
    real transposed[lanes * C];
    transpose(C, lanes, reinterpret_cast<const real*>(from), lanes, transposed, C);
    for (int i = 0; i < count(block); ++i, to += step)
      write_channels(to, C, [&]<int W>(int c) {
        const VecOf<W> y = factor * load<W>(transposed + i * C + c);
        return add ? load<W>(to + c) + y : y;
      });
  }
  // s_ij of a block of queries and key j
  [[gnu::always_inline]] Vec logit(const Vec* q, const real* k, int block, int j, bool all_see) const {
    Vec even = q[0] * k[0], odd = q[1] * k[1];
#pragma GCC unroll 8
    for (int c = 2; c < C; c += 2) even = multiply_add(q[c], k[c], even), odd = multiply_add(q[c + 1], k[c + 1], odd);
    Vec s = even + odd;
    if (bias) s += load(bias + block * lanes - j + x.keys - 1);
    return all_see ? s : lane_numbers() >= j - slot(block) ? s : splat(neg_infinity);
  }

  void forward(real* o, real* stats) const;
  void backward(const AttentionGrads& d, const real* d_o, const real* o, const real* stats) const;
  template <int M>
  void key_grads(const AttentionGrads& d, const real* a, const real* dx, int width, const real* d_o, int j) const;
};

inline void NarrowHead::forward(real* o, real* stats) const {
  const real *k = x.piece[0].k + key(0), *v = x.v + key(0);
  real* s = scratch(logits_buffer, int64_t(x.keys) * lanes);
  for (int n = 0; n < blocks; ++n) {
    Vec q[C], sum{}, total[C] = {}, top = splat(neg_infinity);
    columns(q, x.piece[0].q + query(n * lanes), n, x.scale);
    const int keys = seen(n), by_all = seen_by_all(n);
    const auto take = [&](int j, bool all_see) {
      const Vec logits = logit(q, k + int64_t(j) * step, n, j, all_see);
      top = max(top, logits);
      store(s + j * lanes, logits);
    };
    for (int j = 0; j < by_all; ++j) take(j, true);
    for (int j = by_all; j < keys; ++j) take(j, false);
    const Vec shift = top == neg_infinity ? Vec{} : top;   // a bias of -infinity may hide all keys
    for (int j = 0; j < keys; ++j) {
      const real* vj = v + int64_t(j) * step;
      const Vec e = exp_unclamped(load(s + j * lanes) - shift);
      sum += e;
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) total[c] = multiply_add(e, vj[c], total[c]);
    }
    const Vec inverse = sum == 0 ? Vec{} : 1 / sum;
    for (Vec& y : total) y *= inverse;
    rows(o + query(n * lanes), false, total, n, 1);
    real* kept = stats + 2 * ((int64_t(b) * x.heads + head) * x.queries + n * lanes);
    for (int i = 0; i < count(n); ++i, kept += 2) kept[0] = inverse[i] == 0 ? 0 : shift[i], kept[1] = inverse[i];
  }
}

// dk_j = sum_i dx_ij q_i and dv_j = sum_i a_ij do_i for M keys: enough independent sums to hide an FMA's latency.
template <int M>
inline void NarrowHead::key_grads(const AttentionGrads& d, const real* a, const real* dx, int width, const real* d_o,
                                  int j) const {
  constexpr int W = smaller(lanes, C), N = C / W;
  VecOf<W> dk[M][N] = {}, dv[M][N] = {};
  const real *q = x.piece[0].q + query(0), *go = d_o + query(0);
  a += int64_t(j) * width, dx += int64_t(j) * width;
  for (int i = 0; i < x.queries; ++i, q += step, go += step)
#pragma GCC unroll 8
    for (int r = 0; r < M; ++r)
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) {
        dk[r][n] = multiply_add(load<W>(q + n * W), dx[r * width + i], dk[r][n]);
        dv[r][n] = multiply_add(load<W>(go + n * W), a[r * width + i], dv[r][n]);
      }
  for (int r = 0; r < M; ++r)
    for (int n = 0; n < N; ++n) {
      real *to_k = d.k[0].at + key(j + r) + n * W, *to_v = d.v.at + key(j + r) + n * W;
      if (d.k[0]) store<W>(to_k, d.k[0].empty ? dk[r][n] : load<W>(to_k) + dk[r][n]);
      if (d.v) store<W>(to_v, d.v.empty ? dv[r][n] : load<W>(to_v) + dv[r][n]);
    }
}

// For each block of queries a_ij and dx_ij = scale ds_ij are stored as (key, query), and dq is summed. Then dk and dv
// are computed from all blocks.
inline void NarrowHead::backward(const AttentionGrads& d, const real* d_o, const real* o, const real* stats) const {
  const int width = blocks * lanes;
  const real *k = x.piece[0].k + key(0), *v = x.v + key(0);
  const int64_t size = int64_t(x.keys) * width;
  real *weights = scratch(logits_buffer, size), *dx = scratch(logit_grads_buffer, size);
  for (int n = 0; n < blocks; ++n) {
    const int64_t first = query(n * lanes);
    Vec q[C], go[C], dq[C], delta{}, inverse{}, shift = splat(std::numeric_limits<real>::infinity());
    columns(q, x.piece[0].q + first, n, x.scale), columns(go, d_o + first, n, x.scale), columns(dq, o + first, n, 1);
    for (int c = 0; c < C; ++c) delta += go[c] * dq[c], dq[c] = Vec{};   // dq held o until here
    const real* kept = stats + 2 * ((int64_t(b) * x.heads + head) * x.queries + n * lanes);
    // after the last query the shift stays infinite, and no key has a weight
    for (int i = 0; i < count(n); ++i, kept += 2) shift[i] = kept[0], inverse[i] = kept[1];
    real *a_j = weights + n * lanes, *dx_j = dx + n * lanes;
    const auto take = [&](int j, bool all_see) {
      const real *kj = k + int64_t(j) * step, *vj = v + int64_t(j) * step;
      const Vec a = exp_unclamped(logit(q, kj, n, j, all_see) - shift) * inverse;
      Vec even = go[0] * vj[0], odd = go[1] * vj[1];
#pragma GCC unroll 8
      for (int c = 2; c < C; c += 2) {
        even = multiply_add(go[c], vj[c], even);
        odd = multiply_add(go[c + 1], vj[c + 1], odd);
      }
      const Vec ds = a * (even + odd - delta);   // scaled, because go and delta are
      store(a_j + int64_t(j) * width, a), store(dx_j + int64_t(j) * width, ds);
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c) dq[c] = multiply_add(ds, kj[c], dq[c]);
    };
    const int keys = seen(n), by_all = seen_by_all(n);
    for (int j = 0; j < by_all; ++j) take(j, true);
    for (int j = by_all; j < keys; ++j) take(j, false);
    for (int j = keys; j < x.keys; ++j) store(a_j + int64_t(j) * width, Vec{}), store(dx_j + int64_t(j) * width, Vec{});
    if (d.q[0]) rows(d.q[0].at + first, !d.q[0].empty, dq, n, 1);
  }
  constexpr int together = registers == 32 ? 8 : 4;
  int j = 0;
  for (; j + together <= x.keys; j += together) key_grads<together>(d, weights, dx, width, d_o, j);
  for (; j < x.keys; ++j) key_grads<1>(d, weights, dx, width, d_o, j);
}

// Calls work(head) for each head of each sequence, on all threads.
template <class Work>
void for_narrow_heads(const AttentionArgs& x, const Work& work) {
  const Tiling tiling(x);
  for_units(x, tiling, 1, [&](const Head& h, int, int first, int end) {
    const real* bias = nullptr;
    if (x.bias) {
      const int size = x.queries + x.keys - 1;
      real* to = scratch(bias_buffer, size + lanes);
      for (int n = 0; n < size; ++n)
        to[n] = x.bias[h.pair_row(x.keys - 1 - n - x.offset + larger(x.offset + x.queries, x.keys) - 1)];
      for (int n = size; n < size + lanes; ++n) to[n] = 0;
      bias = to;
    }
    for (int b = first; b < end && !cancelled(); ++b) work(NarrowHead{.x = x, .b = b, .head = h.head, .bias = bias});
  });
}

}  // namespace poslab::POSLAB_ISA
