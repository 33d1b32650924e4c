// The functions that core/kernels.def uses to state costs.
#include "core/cost.h"

#include <algorithm>

namespace poslab::cost {
namespace {

constexpr double word = sizeof(real), number = sizeof(int);

Cost operator+(Cost a, Cost b) { return {a.flops + b.flops, a.bytes + b.bytes}; }

// The costs of n_1 n_2 ... multiply-adds, of moving that many reals or integers, and of a result with that many reals.
template <class... N>
Cost products(N... n) { return {2 * (double(n) * ...), 0}; }
template <class... N>
Cost moves(N... n) { return {0, (double(n) * ...) * word}; }
template <class... N>
Cost moves_ints(N... n) { return {0, (double(n) * ...) * number}; }
template <class... N>
Cost adds(Accumulator y, N... n) { return {0, !y ? 0 : (y.empty ? 1 : 2) * (double(n) * ...) * word}; }
template <class Array>
Cost when(const Array& x, Cost c) { return x ? c : Cost{}; }

// How many distinct elements of an array a loop reads; `step`: the steps of the array, where 0 repeats elements.
double distinct(const StridedLoop& loop, const int64_t* step) {
  double n = 1;
  for (int d = 0; d < loop.dims; ++d) n *= step[d] ? double(loop.size[d]) : 1;
  return n;
}
Cost binary(const StridedLoop& loop) {
  return moves(loop.count()) + moves(distinct(loop, loop.a)) + moves(distinct(loop, loop.b));
}

// -- attention ------------------------------------------------------------------------------------------------------
struct Attention {
  // elements of the arrays; seen: pairs that are not masked
  double q, k, o, v, q_rel, r, gain, bias, temperature, q_bias, q_rel_bias, tables, seen;
  explicit Attention(const AttentionArgs& args) {
    // All fields are named: when one is added, this does not compile until it is counted here.
    const auto& [B, Tq, Tk, H, G, D, Dv, causal, offset, scale, pieces, N, piece, v_at, q_rel_at, r_at, gain_at,
                 bias_at, temperature_at, temperature_batch, temperature_heads, key_lengths, pairs, pairs_batch, R,
                 q_bias_at, q_rel_bias_at] = args;
    const double rows = double(B) * Tq * H, keys = double(B) * Tk * G;
    q = rows * D, k = keys * D, o = rows * Dv, v = keys * Dv;
    q_rel = q_rel_at ? rows * R : 0, r = r_at ? double(N) * H * R : 0;
    gain = gain_at ? double(N) * H : 0, bias = bias_at ? double(N) * H : 0;
    temperature = temperature_at ? double(temperature_batch) * Tq * temperature_heads : 0;
    q_bias = q_bias_at ? double(H) * D : 0, q_rel_bias = q_rel_bias_at ? double(H) * R : 0;
    tables = (pairs ? double(pairs_batch) * Tq * Tk : 0) + (key_lengths ? B : 0);
    // Key lengths may be on a GPU, so they are not read: padding is counted too.
    seen = 0;
    for (int p = 0; p < pieces; ++p)
      for (int t = offset; t < offset + Tq; ++t) {
        const int first = std::max({0, piece[p].first, t + piece[p].from});
        const int end = std::min({Tk, piece[p].end, t + piece[p].to, causal ? t + 1 : Tk});
        seen += std::max(0, end - first);
      }
    seen *= double(B) * H;
  }
  Cost read_for_logits(const AttentionArgs& x) const {
    return moves(x.pieces * (q + k) + q_rel + r + gain + bias + temperature + q_bias + q_rel_bias) + moves_ints(tables);
  }
};

// q k^T, q_rel r^T: products of length head_dim and rel_dim for each pair
Cost of_logits(const AttentionArgs& x) {
  const Attention a(x);
  return products(a.seen, x.head_dim + (x.r ? x.rel_dim : 0)) + a.read_for_logits(x);
}
// a v. Moves v, o and stats, which has 2 numbers for each query and head
Cost of_values(const AttentionArgs& x) {
  const Attention a(x);
  return products(a.seen, x.value_dim) + moves(a.v + a.o + 2 * a.q / x.head_dim);
}
// do v^T for ds, then a^T do = dv, ds k = dq, ds^T q = dk, ds r = dq_rel, ds^T q_rel = dr. Logits and weights, which
// the kernel computes again, are not counted.
Cost of_gradients(const AttentionGrads& d, const AttentionArgs& x) {
  const Attention a(x);
  const auto& [dq, dk, dv, dq_rel, dr, dgain, dbias, dtemperature, dq_bias, dq_rel_bias] = d;
  Cost cost = adds(dv, a.v) + adds(dq_rel, a.q_rel) + adds(dr, a.r) + adds(dgain, a.gain) + adds(dbias, a.bias) +
              adds(dtemperature, a.temperature) + adds(dq_bias, a.q_bias) + adds(dq_rel_bias, a.q_rel_bias);
  bool of_q = false, of_k = false;
  for (int p = 0; p < x.pieces; ++p) {
    of_q |= bool(dq[p]), of_k |= bool(dk[p]);
    cost = cost + adds(dq[p], a.q) + adds(dk[p], a.k);
  }
  const bool ds = of_q || of_k || dq_rel || dr || dgain || dbias || dtemperature || dq_bias || dq_rel_bias;
  return cost + products(a.seen, (ds + bool(dv)) * x.value_dim) + products(a.seen, (of_q + of_k) * x.head_dim) +
         products(a.seen, (bool(dq_rel) + bool(dr)) * x.rel_dim) + a.read_for_logits(x) +
         moves(a.v + 2 * a.o + 2 * a.q / x.head_dim);                                          // v do o stats
}

}  // namespace

#pragma GCC diagnostic ignored "-Wunused-parameter"
#define KERNEL(name, result, arguments, ...) Cost name arguments { return __VA_ARGS__; }
#include "core/kernels.def"
#undef KERNEL
Cost linear_stored(real*, const real*, StoredAs as, const void*, const real* b, int64_t rows, int in, int out) {
  return products(rows, in, out) + moves(rows, in + out) + when(b, moves(out)) +
         Cost{0, double(in) * out * bytes_of(as)};
}
Cost gather_stored(real*, StoredAs, const void*, const int*, int64_t rows, int n) {
  return moves(rows, n) + moves_ints(rows);
}

}  // namespace poslab::cost
