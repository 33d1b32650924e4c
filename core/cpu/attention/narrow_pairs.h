// Attention of heads with 8 channels whose factors are pairs of bf16 (--matmul bf16; pairs.h). Queries lie along the
// vector lanes, as in narrow_heads.h. A pair is two neighbours along the index that a product sums over:
//
//   logits and dp: two channels           o and dq: two keys           dk and dv: two queries
//
// Queries, keys, values, weights and gradients of logits are rounded as factors; softmax and its sums are in fp32.
#pragma once
#include "core/cpu/attention/narrow_heads.h"
#include "core/cpu/bf16/pairs.h"
#include "core/rounding.h"

#ifndef POSLAB_DOUBLE
namespace poslab::POSLAB_ISA {

// Excludes biases: the tiles of backward.cpp sum their gradients, and both passes must round logits in the same way.
inline bool is_narrow_in_pairs(const AttentionArgs& x) {
  return is_narrow(x) && !x.bias && cpu_rounding() == Rounding::bf16;
}

struct PairedHead : NarrowHead {
  static constexpr int S = reals_per_pair, steps = C / 2 * S;   // multiplications for a pair, for all channels
  static constexpr int at(int step) { return step ^ (S - 1); }  // with two steps the second runs first (pairs.h)
  using Factor = Packed::Factor<lanes>;

  explicit PairedHead(const NarrowHead& h) : NarrowHead(h) {}

  // Scratch buffers in addition to those in logits.h. If S = 2, numbers stay in rows, and the same rows serve as pairs
  // of channels and as pairs of keys.
  enum PairedBuffer { k_buffer = keys_buffer, v_buffer, k_rows_buffer, queries_buffer };
  const real* along_channels(int buffer, const real* rows) const {  // (keys, steps)
    constexpr int W = smaller(lanes, C);
    real* to = scratch(buffer, int64_t(x.keys + 1) * steps);
    if constexpr (S == 2) {
      for (int j = 0; j < x.keys; ++j, rows += step) round_line(C, rows, to + j * C);
      __builtin_memset(to + x.keys * C, 0, C * sizeof(real));
    } else if constexpr (W < C) {
      pair_columns(x.keys, C, rows, step, to);
    } else {  // two keys at once
      for (int j = 0; j < x.keys; j += 2, rows += 2 * step)
        store_bits<W>(to + j * steps,
                      pair_neighbours<W>(load_bits<W>(rows), load_bits<W>(rows + (j + 1 < x.keys) * step)));
    }
    return to;
  }
  const real* along_rows(int buffer, const real* rows) const {  // (ceil(keys / 2) S, C)
    if constexpr (S == 2) return along_channels(buffer, rows);
    real* to = scratch(buffer, int64_t(x.keys + 1) / 2 * C);
    pair_rows(x.keys, C, rows, step, to, C);
    return to;
  }
  static void columns_to_pairs(Factor* to, const Vec* from) {
    for (int c = 0; c < C; c += 2, to += S)
      Packed::put<lanes>(to, Packed::rounded<lanes>(from[c]), Packed::rounded<lanes>(from[c + 1]));
  }
  // sum_c a_c b_jc for each query                                       b: the pairs of key j
  [[gnu::always_inline]] static Vec dot(const Factor* a, const real* b) {
    Vec sum{};
#pragma GCC unroll 8
    for (int c = 0; c < steps; ++c) sum = Packed::add_product<lanes>(sum, Packed::left<lanes>(b + at(c)), a[at(c)]);
    return sum;
  }
  // total_c += a0 x_0c + a1 x_1c                                        rows: x of both keys, in pairs
  [[gnu::always_inline]] static void add_keys(Vec* total, Vec a0, Vec a1, const real* rows) {
    Factor a[S];
    Packed::put<lanes>(a, a0, a1);
#pragma GCC unroll 2
    for (int s = 0; s < S; ++s)
#pragma GCC unroll 8
      for (int c = 0; c < C; ++c)
        total[c] = Packed::add_product<lanes>(total[c], Packed::left<lanes>(rows + at(s) * C + c), a[at(s)]);
  }
  Vec logit(const Factor* q, const real* k, int block, int j, bool all_see) const {
    const Vec s = dot(q, k + j * steps);
    return all_see ? s : lane_numbers() >= j - slot(block) ? s : splat(neg_infinity);
  }
  // x_0 y_0 x_1 y_1 ...
  template <int W, int... i>
  static void store_interleaved(real* to, VecOf<W> x, VecOf<W> y, std::integer_sequence<int, i...>) {
    store<W>(to, __builtin_shufflevector(x, y, (i / 2 + i % 2 * W)...));
    store<W>(to + W, __builtin_shufflevector(x, y, (W / 2 + i / 2 + i % 2 * W)...));
  }
  template <int W>
  static void store_interleaved(real* to, VecOf<W> x, VecOf<W> y) {
    store_interleaved<W>(to, x, y, std::make_integer_sequence<int, W>());
  }
  // Stores dx and a as pairs of queries, interleaved, in S vectors.
  template <int... i>
  static void store_queries_interleaved(real* to, Vec dx, Vec a, std::integer_sequence<int, i...>) {
    const auto pairs = pair_neighbours<lanes>(__builtin_bit_cast(Bits<lanes>, dx), __builtin_bit_cast(Bits<lanes>, a));
    store_bits<lanes>(to, __builtin_shufflevector(pairs, pairs, (i / 2 + i % 2 * (lanes / 2))...));
  }
  static void store_queries_interleaved(real* to, Vec dx, Vec a) {
    if constexpr (S == 2)
      store_interleaved<lanes>(to, dx, a);
    else
      store_queries_interleaved(to, dx, a, std::make_integer_sequence<int, lanes>());
  }

  void forward(real* o, real* stats) const;
  void backward(const AttentionGrads& d, const real* d_o, const real* o, const real* stats) const;
  // Elements first, first + 2, ... of v
  template <int first, int... i>
  static auto every_other(auto v, std::integer_sequence<int, i...>) {
    return __builtin_shufflevector(v, v, (first + 2 * i)...);
  }
  template <int M>
  void key_grads(const AttentionGrads& d, const real* dx_and_a, int row, const real* q_and_go, int j) const;
};

inline void PairedHead::forward(real* o, real* stats) const {
  const real *k = along_channels(k_buffer, x.piece[0].k + key(0)), *v = along_rows(v_buffer, x.v + key(0));
  real* s = scratch(logits_buffer, int64_t(x.keys + 1) * lanes);
  for (int n = 0; n < blocks; ++n) {
    Vec channels[C], sum{}, total[C] = {}, top = splat(neg_infinity);
    columns(channels, x.piece[0].q + query(n * lanes), n, x.scale);
    Factor q[steps];
    columns_to_pairs(q, channels);
    const int keys = seen(n), by_all = seen_by_all(n);
    const auto take = [&](int j, bool all_see) {
      const Vec logits = logit(q, k, n, j, all_see);
      top = max(top, logits);
      store(s + j * lanes, logits);
    };
    for (int j = 0; j < by_all; ++j) take(j, true);
    for (int j = by_all; j < keys; ++j) take(j, false);
    store(s + keys * lanes, splat(neg_infinity));          // the partner of the last key if the number of keys is odd
    const Vec shift = top == neg_infinity ? Vec{} : top;   // 0 for a query that sees no key
    const real* rows_v = v;
    for (int j = 0; j < keys; j += 2, rows_v += C * S) {
      const Vec e0 = exp_unclamped(load(s + j * lanes) - shift), e1 = exp_unclamped(load(s + (j + 1) * lanes) - shift);
      sum += e0 + e1;
      add_keys(total, Packed::rounded_weight<lanes>(e0), Packed::rounded_weight<lanes>(e1), rows_v);
    }
    const Vec inverse = sum == 0 ? Vec{} : 1 / sum;
    for (int c = 0; c < C; ++c) channels[c] = total[c] * inverse;
    rows(o + query(n * lanes), false, channels, n, 1);
    real* kept = stats + 2 * ((int64_t(b) * x.heads + head) * x.queries + n * lanes);
    for (int i = 0; i < count(n); ++i, kept += 2) kept[0] = inverse[i] == 0 ? 0 : shift[i], kept[1] = inverse[i];
  }
}

// (dk_jc, dv_jc), c after c, += sum_i (dx_ij q_ic, a_ij go_ic) for M keys, by pairs of queries.
//                                                dx_and_a: (keys, row)   q_and_go: (ceil(queries / 2) S, 2 C)
template <int M>
inline void PairedHead::key_grads(const AttentionGrads& d, const real* dx_and_a, int row, const real* q_and_go,
                                  int j) const {
  constexpr int W = smaller(lanes, 2 * C), N = 2 * C / W;
  typedef uint64_t Two __attribute__((vector_size(W * sizeof(real)), may_alias));
  typedef uint64_t OneOfTwo __attribute__((aligned(4), may_alias));
  VecOf<W> sum[M][N] = {};
  dx_and_a += int64_t(j) * row;
  for (int i = 0; i < x.queries; i += 2, dx_and_a += 2 * S, q_and_go += 2 * C * S)
#pragma GCC unroll 2
    for (int s = 0; s < S; ++s) {
      Packed::Factor<W> right[N];
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) right[n] = Packed::right<W>(q_and_go + at(s) * 2 * C + n * W, 0);
#pragma GCC unroll 8
      for (int r = 0; r < M; ++r) {
        const Two both = *reinterpret_cast<const OneOfTwo*>(dx_and_a + r * row + 2 * at(s)) - Two{};
        const auto left = __builtin_bit_cast(Packed::Factor<W>, both);
#pragma GCC unroll 4
        for (int n = 0; n < N; ++n) sum[r][n] = Packed::add_product<W>(sum[r][n], left, right[n]);
      }
    }
  const auto put = [this, j](const Accumulator& to, int r, int at, VecOf<W / 2> y) {
    if (real* place = to.at + key(j + r) + at; to) store<W / 2>(place, to.empty ? y : load<W / 2>(place) + y);
  };
#pragma GCC unroll 8
  for (int r = 0; r < M; ++r)
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) {
      const auto half = std::make_integer_sequence<int, W / 2>();
      put(d.k[0], r, n * W / 2, every_other<0>(sum[r][n], half));
      put(d.v, r, n * W / 2, every_other<1>(sum[r][n], half));
    }
}

// As in narrow_heads.h: a_ij and dx_ij = scale ds_ij are stored as (key, query), in bf16, while dq is summed.
inline void PairedHead::backward(const AttentionGrads& d, const real* d_o, const real* o, const real* stats) const {
  const int row = blocks * lanes * S;
  const real *all_k = x.piece[0].k + key(0), *k = along_channels(k_buffer, all_k),
             *k_rows = S == 2 ? k : along_rows(k_rows_buffer, all_k), *v = along_channels(v_buffer, x.v + key(0));
  real* dx_and_a = scratch(logits_buffer, int64_t(x.keys) * row);
  for (int n = 0; n < blocks; ++n) {
    const int64_t first = query(n * lanes);
    Vec channels[C], go_channels[C], o_channels[C], delta{}, inverse{},
        shift = splat(std::numeric_limits<real>::infinity());
    columns(channels, x.piece[0].q + first, n, x.scale), columns(go_channels, d_o + first, n, x.scale);
    columns(o_channels, o + first, n, 1);
    for (int c = 0; c < C; ++c) delta += go_channels[c] * o_channels[c];
    Factor q[steps], go[steps];
    columns_to_pairs(q, channels), columns_to_pairs(go, go_channels);
    const real* kept = stats + 2 * ((int64_t(b) * x.heads + head) * x.queries + n * lanes);
    // after the last query the shift stays infinite, and no key has a weight
    for (int i = 0; i < count(n); ++i, kept += 2) shift[i] = kept[0], inverse[i] = kept[1];
    Vec dq[C] = {};
    real* to = dx_and_a + n * lanes * S;
    const auto take = [&](int j, bool all_see) {
      const Vec a = exp_unclamped(logit(q, k, n, j, all_see) - shift) * inverse;
      // scaled, because go and delta are
      const Vec ds = Packed::rounded<lanes>(a * (dot(go, v + j * steps) - delta));
      store_queries_interleaved(to + int64_t(j) * row, ds, Packed::rounded_weight<lanes>(a));
      return ds;
    };
    const int keys = seen(n), by_all = seen_by_all(n);
    int j = 0;
    for (; j + 2 <= by_all; j += 2) {
      const Vec ds = take(j, true);
      add_keys(dq, ds, take(j + 1, true), k_rows + j / 2 * C * S);
    }
    for (; j < keys; j += 2) {
      const Vec ds = take(j, j < by_all);
      add_keys(dq, ds, j + 1 < keys ? take(j + 1, false) : Vec{}, k_rows + j / 2 * C * S);
    }
    for (j = keys; j < x.keys; ++j)
      for (int s = 0; s < S; ++s) store(to + int64_t(j) * row + s * lanes, Vec{});
    if (!d.q[0]) continue;
    for (int c = 0; c < C; ++c) channels[c] = dq[c];       // dq itself stays in registers
    rows(d.q[0].at + first, !d.q[0].empty, channels, n, 1);
  }
  const real *q = x.piece[0].q + query(0), *go = d_o + query(0);
  real* q_and_go = scratch(queries_buffer, int64_t(x.queries + 1) * C * S);
  for (int i = 0; i < (x.queries + 1) / 2 * S; ++i, q += 2 / S * step, go += 2 / S * step) {
    const auto factors = [&, all = 2 / S * (i + 1) <= x.queries](const real* rows) {
      if constexpr (S == 2)
        return all ? load_bf16<C>(rows) : VecOf<C>{};
      else
        return (VecOf<C>)pair<C>(load_bits<C>(rows), all ? load_bits<C>(rows + step) : Bits<C>{});
    };
    store_interleaved<C>(q_and_go + i * 2 * C, factors(q), factors(go));
  }
  constexpr int together = registers == 32 ? 8 : 4;
  int j = 0;
  for (; j + together <= x.keys; j += together) key_grads<together>(d, dx_and_a, row, q_and_go, j);
  for (; j < x.keys; ++j) key_grads<1>(d, dx_and_a, row, q_and_go, j);
}

}  // namespace poslab::POSLAB_ISA
#endif
