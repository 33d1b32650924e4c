// Attention computed by its formula, pair by pair: the first step of docs/attention.md, and the reference in tests of
// the fast kernels. Terms and shapes are at AttentionArgs in core/kernels.h; sums are in double.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "core/kernels.h"

namespace poslab::naive {

// One head of one sequence: the indices of element c in its rows of n numbers.
struct Row {
  const AttentionArgs& x;
  int b = 0, h = 0, g = h / (x.heads / x.kv_heads);  // g: the key head that head h reads
  int64_t query(int i, int n, int c) const { return ((int64_t(b) * x.queries + i) * x.heads + h) * n + c; }
  int64_t key(int j, int n, int c) const { return ((int64_t(b) * x.keys + j) * x.kv_heads + g) * n + c; }
  int64_t pair(int i, int j) const {
    if (x.pairs) return x.pairs[((x.pairs_batch == 1 ? 0 : int64_t(b)) * x.queries + i) * x.keys + j];
    return j - (x.offset + i) + std::max(x.offset + x.queries, x.keys) - 1;
  }
  int64_t temperature(int i) const {
    const int64_t row = (x.temperature_batch == 1 ? 0 : int64_t(b)) * x.queries + i;
    return x.temperature_heads == 1 ? row : row * x.heads + h;
  }
  // The piece that holds the pair, null if query i does not see key j.
  const AttentionPiece* piece(int i, int j) const {
    const int away = j - (x.offset + i);
    if ((x.causal && away > 0) || (x.key_lengths && j >= x.key_lengths[b])) return nullptr;
    for (const AttentionPiece& p : x.piece)
      if (&p < x.piece + x.pieces && p.from <= away && away < p.to && p.first <= j && j < p.end) return &p;
    return nullptr;
  }
  // q_rel_i . r[pair], 0 where there are no vectors
  double relative(int i, int j) const {
    double s = 0;
    for (int c = 0; x.r && c < x.rel_dim; ++c)
      s += double(x.q_rel[query(i, x.rel_dim, c)]) * double(x.r[(pair(i, j) * x.heads + h) * x.rel_dim + c]);
    return s;
  }
  // scale (q_i . k_j + q_rel_i . r[pair])
  double product(const AttentionPiece& p, int i, int j) const {
    double s = relative(i, j);
    for (int c = 0; c < x.head_dim; ++c) s += double(p.q[query(i, x.head_dim, c)]) * double(p.k[key(j, x.head_dim, c)]);
    return double(x.scale) * s;
  }
  double gain(int i, int j) const { return x.gain ? double(x.gain[pair(i, j) * x.heads + h]) : 1; }
  double bias(int i, int j) const { return x.bias ? double(x.bias[pair(i, j) * x.heads + h]) : 0; }
  // a_i: the logits of the keys that are seen, and their softmax
  std::vector<double> weights(int i) const {
    std::vector<double> a(size_t(x.keys), -INFINITY);
    const double t = x.temperature ? double(x.temperature[temperature(i)]) : 1;
    for (int j = 0; j < x.keys; ++j)
      if (const AttentionPiece* p = piece(i, j)) a[size_t(j)] = t * (gain(i, j) * product(*p, i, j) + bias(i, j));
    const double top = *std::max_element(a.begin(), a.end());
    double z = 0;
    for (double& e : a) z += e = top == -INFINITY ? 0 : std::exp(e - top);
    for (double& e : a) e = z > 0 ? e / z : 0;
    return a;
  }
};

template <class Work>
void for_rows(const AttentionArgs& x, const Work& work) {
  for (int b = 0; b < x.batch; ++b)
    for (int h = 0; h < x.heads; ++h)
      for (int i = 0; i < x.queries; ++i) work(Row{x, b, h}, i);
}

// o_i = sum_j a_ij v_j
inline void attention(real* o, const AttentionArgs& x) {
  for_rows(x, [&](const Row& row, int i) {
    const std::vector<double> a = row.weights(i);
    for (int c = 0; c < x.value_dim; ++c) {
      double sum = 0;
      for (int j = 0; j < x.keys; ++j)
        if (row.piece(i, j)) sum += a[size_t(j)] * double(x.v[row.key(j, x.value_dim, c)]);
      o[row.query(i, x.value_dim, c)] = real(sum);
    }
  });
}

// dv_j += a_ij do_i for the keys that query i sees. Returns da_ij = do_i . v_j, 0 for other keys.
inline std::vector<double> values_backward(const AttentionGrads& d, const Row& row, int i, const real* d_o,
                                           const std::vector<double>& a) {
  std::vector<double> da(a.size());
  for (int j = 0; j < row.x.keys; ++j)
    for (int c = 0; c < row.x.value_dim && row.piece(i, j); ++c) {
      const int64_t v = row.key(j, row.x.value_dim, c);
      const double dy = double(d_o[row.query(i, row.x.value_dim, c)]);
      da[size_t(j)] += dy * double(row.x.v[v]);
      d.v.at[v] += real(a[size_t(j)] * dy);
    }
  return da;
}

// ds_ij = a_ij (da_ij - sum_k a_ik da_ik)
inline std::vector<double> weights_backward(const std::vector<double>& a, const std::vector<double>& da) {
  std::vector<double> ds(a.size());
  double along = 0;
  for (size_t j = 0; j < a.size(); ++j) along += a[j] * da[j];
  for (size_t j = 0; j < a.size(); ++j) ds[j] = a[j] * (da[j] - along);
  return ds;
}

// dq_i += dx k_j, dk_j += dx q_i for dx = scale dproduct; number: the index of the piece with the pair
inline void product_backward(const AttentionGrads& d, const Row& row, int number, int i, int j, double dproduct) {
  const AttentionPiece& p = row.x.piece[number];
  const double dx = double(row.x.scale) * dproduct;
  for (int c = 0; c < row.x.head_dim; ++c) {
    const int64_t q = row.query(i, row.x.head_dim, c), k = row.key(j, row.x.head_dim, c);
    d.q[number].at[q] += real(dx * double(p.k[k])), d.k[number].at[k] += real(dx * double(p.q[q]));
  }
}

// Adds to all of `d`, whose arrays exist and are not empty. The formulas are in core/cpu/attention/backward.cpp.
inline void attention_backward(const AttentionGrads& d, const AttentionArgs& x, const real* d_o) {
  for_rows(x, [&](const Row& row, int i) {
    const std::vector<double> a = row.weights(i), ds = weights_backward(a, values_backward(d, row, i, d_o, a));
    const double t = x.temperature ? double(x.temperature[row.temperature(i)]) : 1;
    for (int j = 0; j < x.keys; ++j) {
      const AttentionPiece* p = row.piece(i, j);
      if (!p) continue;
      const double gain = row.gain(i, j), product = row.product(*p, i, j), du = t * ds[size_t(j)], dproduct = gain * du;
      const int64_t pair = x.r || x.gain || x.bias ? row.pair(i, j) * x.heads + row.h : 0;
      if (x.temperature)
        d.temperature.at[row.temperature(i)] += real(ds[size_t(j)] * (gain * product + row.bias(i, j)));
      if (x.gain) d.gain.at[pair] += real(du * product);
      if (x.bias) d.bias.at[pair] += real(du);
      product_backward(d, row, int(p - x.piece), i, j, dproduct);
      for (int c = 0; x.r && c < x.rel_dim; ++c) {
        const int64_t q = row.query(i, x.rel_dim, c), r = pair * x.rel_dim + c;
        const double dx = double(x.scale) * dproduct;
        d.q_rel.at[q] += real(dx * double(x.r[r])), d.r.at[r] += real(dx * double(x.q_rel[q]));
      }
    }
  });
}

}  // namespace poslab::naive
