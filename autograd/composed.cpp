// The ops as in a textbook, formula by formula. They are slow on purpose: every intermediate result is a tensor.
#include "autograd/composed.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "autograd/argument_checks.h"

namespace poslab::composed {
namespace {

// exp(x_j - m) / sum_k exp(x_k - m), m = max_k x_k. The result does not depend on m, so no gradient flows through it.
Tensor softmax(const Tensor& x) {
  const Tensor e = exp(x - max(x).detach());
  return e / sum(e, -1);
}

struct Sizes { int batch, queries, keys, heads, kv_heads; };
Sizes sizes(const Scores& x) {
  const Tensor &q = x.pieces[0].q, &k = x.pieces[0].k;
  return {q.dim(0), q.dim(1), k.dim(1), q.dim(2), k.dim(2)};
}

// Row j - t + slots - 1 for query i at slot t and key j, slots = max(offset + Tq, Tk)                 (1, Tq, Tk)
Ids by_distance(int offset, int queries, int keys) {
  std::vector<int> row;
  for (int t = offset; t < offset + queries; ++t)
    for (int j = 0; j < keys; ++j) row.push_back(j - t + std::max(offset + queries, keys) - 1);
  return Ids({1, queries, keys}, row);
}

bool holds(const Piece& p, int t, int j) { return p.from <= j - t && j - t < p.to && p.first <= j && j < p.end; }

// 1 for the pairs of a piece, 0 for other pairs                                                       (Tq, Tk)
Tensor pairs_of(const Piece& p, const Span& span, const Sizes& n) {
  Tensor all = Tensor::full({n.queries, n.keys}, 0);
  for (int i = 0; i < n.queries; ++i)
    for (int j = 0; j < n.keys; ++j) all.data()[int64_t(i) * n.keys + j] = holds(p, span.offset + i, j);
  return all.to(p.q.device());
}

struct Masks {
  Tensor hidden;  // 0 where query i sees key j, else -infinity                                     (1 or B, 1, Tq, Tk)
  Tensor hidden_if_any_seen;   // as above, but 0 for a query that sees no key: its softmax is then finite
  Tensor any_seen;  // 1 or 0                                                                         (1 or B, 1, Tq, 1)
};
Masks masks(const Scores& x, const Span& span) {
  const Sizes n = sizes(x);
  check_key_lengths(span.key_lengths, n.batch, n.keys);
  const int batch = span.key_lengths ? n.batch : 1;
  Tensor hidden({batch, 1, n.queries, n.keys}), partly = Tensor::full(hidden.shape(), 0),
                                                any = Tensor::full({batch, 1, n.queries, 1}, 0);
  for (int64_t row = 0; row < any.size(); ++row) {
    const int b = int(row / n.queries), t = span.offset + int(row % n.queries);
    real* at = hidden.data() + row * n.keys;
    for (int j = 0; j < n.keys; ++j) {
      const bool in_a_piece =
          std::any_of(x.pieces.begin(), x.pieces.end(), [=](const Piece& p) { return holds(p, t, j); });
      const bool seen = in_a_piece && (!span.causal || j <= t) && (!span.window || t - j < span.window) &&
                        (!span.key_lengths || j < span.key_lengths[b]);
      at[j] = seen ? 0 : -std::numeric_limits<real>::infinity();
      if (seen) any.data()[row] = 1;
    }
    if (any.data()[row] == 1) std::copy_n(at, n.keys, partly.data() + row * n.keys);
  }
  const Device device = x.pieces[0].q.device();
  return {hidden.to(device), partly.to(device), any.to(device)};
}

// Repeats each key head for all query heads that read it.              (B, T, G, D) -> (B, H, T, D)
Tensor for_each_head(const Tensor& x, int heads) {
  const int B = x.dim(0), T = x.dim(1), G = x.dim(2), D = x.dim(3);
  Tensor by_head = permute(x, {0, 2, 1, 3});
  if (G == heads) return by_head;
  const Tensor ones = Tensor::full({1, 1, heads / G, 1, 1}, 1, x.device());
  return (by_head.reshape({B, G, 1, T, D}) * ones).reshape({B, heads, T, D});
}

// temperature_i ( gain[pair] scale (q_i . k_j + q_rel_i . r[pair]) + bias[pair] ), for masked pairs too
Tensor unmasked_logits(const Scores& x, const Span& span) {
  const Sizes n = sizes(x);
  const Ids pairs = x.pairs ? x.pairs : by_distance(span.offset, n.queries, n.keys);
  // (N, H) -> (1 or B, H, Tq, Tk)
  const auto of_pairs = [&](const Tensor& table) { return permute(gather(table, pairs), {0, 3, 1, 2}); };
  Tensor s;
  for (const Piece& p : x.pieces) {
    Tensor product = matmul(permute(p.q, {0, 2, 1, 3}), transpose(for_each_head(p.k, n.heads)));  // (B, H, Tq, Tk)
    if (x.pieces.size() > 1) product = product * pairs_of(p, span, n);
    s = s ? s + product : product;
  }
  if (x.q_rel) {
    const Tensor row = gather(x.r, pairs);                                                    // (1 or B, Tq, Tk, H, R)
    const Tensor q = x.q_rel.reshape({n.batch, n.queries, 1, n.heads, x.q_rel.dim(3)});
    s = s + permute(sum(q * row, -1).reshape({n.batch, n.queries, n.keys, n.heads}), {0, 3, 1, 2});
  }
  s = s * x.scale;
  if (x.gain) s = s * of_pairs(x.gain);
  if (x.bias) s = s + of_pairs(x.bias);
  if (const Tensor& t = x.temperature) s = s * permute(t, {0, 2, 1}).reshape({t.dim(0), t.dim(2), n.queries, 1});
  return s;
}

}  // namespace

// x w + b, without b if it is absent
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b) {
  const Tensor h = matmul(x, w);
  return b ? h + b : h;
}

Tensor feed_forward(const Tensor& x, const Tensor& w1, const Tensor& b1, const Tensor& w2, const Tensor& b2) {
  return composed::linear(relu(composed::linear(x, w1, b1)), w2, b2);
}

// h w2 + b2, h = act(x w1 + b1) (x w3 + b3)
Tensor gated_feed_forward(const Tensor& x, const GatedWeights& w, Activation gate) {
  Tensor (*const act[])(const Tensor&) = {relu, silu, gelu, gelu_tanh};                         // in Activation's order
  const Tensor h = act[int(gate)](composed::linear(x, w.w1, w.b1)) * composed::linear(x, w.w3, w.b3);
  return composed::linear(h, w.w2, w.b2);
}

// gain (x - mean) / sqrt(variance + 1e-5) + bias
Tensor norm(const Tensor& x, const Tensor& gain, const Tensor& bias) {
  const Tensor centered = x - mean(x, -1);
  const Tensor variance = mean(centered * centered, -1);
  return gain * (centered / sqrt(variance + 1e-5)) + bias;
}

Tensor residual_norm(const Tensor& x, const Tensor& z, const Tensor& gain, const Tensor& bias, Dropout how) {
  return composed::norm(x + dropout(z, how), gain, bias);
}

// gain x / sqrt(mean(x^2) + epsilon)
Tensor rms_norm(const Tensor& x, const Tensor& gain, double epsilon) {
  return gain * (x / sqrt(mean(x * x, -1) + epsilon));
}

ResidualNorm residual_rms_norm(const Tensor& x, const Tensor& z, const Tensor& gain, double epsilon, Dropout how) {
  const Tensor s = x + dropout(z, how);
  return {s, composed::rms_norm(s, gain, epsilon)};
}

// y_j = sum_k x_k [k <= j]: a product with a triangle of ones, along the last axis
Tensor scan(const Tensor& x, int axis, ScanOrder order) {
  std::vector<int> exchange(size_t(x.dims()));
  std::iota(exchange.begin(), exchange.end(), 0);
  std::swap(exchange[size_t((axis + x.dims()) % x.dims())], exchange.back());
  const int n = x.dim(axis);
  std::vector<real> ones(size_t(n) * size_t(n));
  for (int k = 0; k < n; ++k)
    for (int j = 0; j < n; ++j)
      ones[size_t(k) * size_t(n) + size_t(j)] = (order.reverse ? k > j : k < j) || (k == j && !order.exclusive);
  const Tensor rows = permute(x, exchange);
  const Tensor y = matmul(rows.reshape({-1, n}), Tensor::from({n, n}, ones).to(x.device()));
  return permute(y.reshape(rows.shape()), exchange);
}

// t_0 + sum_m (t_{m+1} - t_m) min(max(p - m, 0), 1)
Tensor interpolate(const Tensor& t, const Tensor& p) {
  const int axis = t.dims() - 1, last = t.dim(-1) - 1;
  Tensor y = slice(t, axis, 0, 1) + Tensor::full(p.shape(), 0, p.device());
  for (int m = 0; m < last; ++m)
    y = y + (slice(t, axis, m + 1, m + 2) - slice(t, axis, m, m + 1)) * clamp(p - m, 0, 1);
  return y;
}

// Sorts on the host; the gradient goes through gather.
TopK top_k(const Tensor& x, int k) {
  const int n = x.dim(-1);
  const std::vector<real> all = x.values();
  std::vector<int> place;
  std::vector<real> columns;
  for (int64_t i = 0; i < x.rows(); ++i) {
    std::vector<int> order(static_cast<size_t>(n));
    std::iota(order.begin(), order.end(), 0);
    const auto value = [&](int j) { return all[size_t(i * n + j)]; };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return value(a) > value(b); });
    for (int r = 0; r < k; ++r)
      place.push_back(int(i) * n + order[size_t(r)]), columns.push_back(real(order[size_t(r)]));
  }
  Shape shape = x.shape();
  shape.back() = k;
  const Tensor values = gather(x.reshape({-1, 1}), Ids({int(place.size())}, place));
  return {values.reshape(shape), Tensor::from(shape, columns).to(x.device())};
}

// mean_i (ln sum_j exp(x_ij) - x_i,target_i)
Tensor cross_entropy(const Tensor& logits, const Ids& targets) {
  const int classes = logits.dim(-1);
  const Tensor x = logits.reshape({int(logits.rows()), classes});
  const Tensor top = max(x).detach();
  const Tensor log_sum = log(sum(exp(x - top), -1)) + top;                                    // (rows, 1)
  std::vector<int> place(size_t(targets.size()));
  for (size_t i = 0; i < place.size(); ++i) place[i] = int(i) * classes + targets[int64_t(i)];
  const Tensor correct = gather(x.reshape({-1, 1}), Ids({int(place.size())}, place));         // (rows, 1)
  return mean((log_sum - correct).reshape({-1}), 0);
}

Tensor logits(const Scores& x, const Span& span) { return unmasked_logits(x, span) + masks(x, span).hidden; }

Tensor mix(const Tensor& weights, const Tensor& v) {
  return permute(matmul(weights, for_each_head(v, weights.dim(1))), {0, 2, 1, 3});
}

// o_i = sum_j softmax(s_i)_j v_j, 0 for a query that sees no key
Tensor attention(const Scores& x, const Tensor& v, const Span& span) {
  const Masks m = masks(x, span);
  const Tensor weights =
      composed::softmax(unmasked_logits(x, span) + m.hidden_if_any_seen) * m.any_seen;  // (B, H, Tq, Tk)
  return mix(weights, v);
}

// u_ij = ln P_ij + sum_k ln(1 - P_ik) [i visits k before j], P = sigmoid(x);  a_i = softmax of u_i over visited keys
Tensor geometric(const Tensor& z, const Tensor& side, const Span& span) {
  const int heads = z.dim(0) * z.dim(1), queries = z.dim(2), keys = z.dim(3);
  Tensor before = Tensor::full({queries, keys, keys}, 0), hidden = Tensor::full({queries, keys}, 0);
  Tensor right = Tensor::full({queries, keys}, 0), left = Tensor::full({queries, keys}, 0);
  Tensor alone = Tensor::full({queries, 1}, 0);
  for (int i = 0; i < queries; ++i) {
    const int t = keys - queries + i;
    const auto asked = [&](int j) { return j < t || (j > t && !span.causal); };
    const auto place = [&](int j) { return j > t ? 2 * (j - t) - 1 : 2 * (t - j); };
    alone.data()[i] = !asked(0) && !asked(keys - 1);
    for (int j = 0; j < keys; ++j) {
      right.data()[i * keys + j] = j > t, left.data()[i * keys + j] = j < t;
      hidden.data()[i * keys + j] = asked(j) ? 0 : -1e30;          // finite: a row may have only hidden keys
      for (int k = 0; k < keys; ++k)
        before.data()[(int64_t(i) * keys + k) * keys + j] = asked(j) && asked(k) && place(k) < place(j);
    }
  }
  const Tensor x = z + slice(side, 3, 0, 1) * right + slice(side, 3, 1, 2) * left;
  const Tensor hit = softplus(x * -1) * -1, miss = softplus(x) * -1;                          // ln P, ln(1 - P)
  const Tensor of_queries = permute(miss.reshape({heads, queries, keys}), {1, 0, 2});         // (Tq, B H, Tk)
  const Tensor missed = permute(matmul(of_queries, before), {1, 0, 2}).reshape(z.shape());
  const Tensor u = hit + missed + hidden, e = exp(u - max(u).detach()) * (hidden * 1e-30 + 1);
  return e / (sum(e, -1) + alone);
}

}  // namespace poslab::composed
