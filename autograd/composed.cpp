// The textbook forms, formula by formula. Slow on purpose: every intermediate is a tensor.
#include "autograd/composed.h"

#include <limits>


namespace poslab::composed {
namespace {

// exp(x_j - m) / sum_k exp(x_k - m), m = max_k x_k. The result does not depend on m, so no gradient flows through it.
Tensor softmax(const Tensor& x) {
  const Tensor e = exp(x - max(x).detach());
  return e / sum(e, -1);
}

// Row j - i + Tk - 1 for query i and key j; queries are the last Tq of the Tk slots.                  (1, Tq, Tk)
Ids by_offset(int queries, int keys) {
  std::vector<int> row;
  for (int i = keys - queries; i < keys; ++i)
    for (int j = 0; j < keys; ++j) row.push_back(j - i + keys - 1);
  return Ids({1, queries, keys}, row);
}

// 0 where key j may be seen by query i, -infinity where it may not                                    (Tq, Tk)
Tensor causal_mask(int queries, int keys) {
  Tensor mask = Tensor::full({queries, keys}, 0);
  for (int i = 0; i < queries; ++i)
    for (int j = i + keys - queries + 1; j < keys; ++j)
      mask.data()[int64_t(i) * keys + j] = -std::numeric_limits<real>::infinity();
  return mask;
}

}  // namespace

// act(x w + b)
Tensor linear(const Tensor& x, const Tensor& w, const Tensor& b) {
  const Tensor h = matmul(x, w);
  return b ? h + b : h;
}

Tensor feed_forward(const Tensor& x, const Tensor& w1, const Tensor& b1, const Tensor& w2, const Tensor& b2) {
  return composed::linear(relu(composed::linear(x, w1, b1)), w2, b2);
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

// s_ij = scale (q_i . k_j + q_rel_i . r[pair(i,j)]) + bias[pair(i,j)]
Tensor logits(const Scores& x, Mask mask) {
  const int batch = x.q.dim(0), queries = x.q.dim(1), keys = x.k.dim(1), heads = x.q.dim(2);
  const Ids pairs = x.pairs ? x.pairs : by_offset(queries, keys);
  Tensor s = matmul(permute(x.q, {0, 2, 1, 3}), permute(x.k, {0, 2, 3, 1}));                  // (B, H, Tq, Tk)
  if (x.q_rel) {
    const Tensor row = gather(x.r, pairs);                                                    // (1 or B, Tq, Tk, H, R)
    const Tensor q = x.q_rel.reshape({batch, queries, 1, heads, x.q_rel.dim(3)});
    s = s + permute(sum(q * row, -1).reshape({batch, queries, keys, heads}), {0, 3, 1, 2});
  }
  s = s * x.scale;
  if (x.bias) s = s + permute(gather(x.bias, pairs), {0, 3, 1, 2});
  return mask == Mask::causal ? s + causal_mask(queries, keys).to(s.device()) : s;
}

// o_i = sum_j softmax(s_i)_j v_j
Tensor attention(const Scores& x, const Tensor& v, Mask mask) {
  const Tensor weights = composed::softmax(logits(x, mask));                                  // (B, H, Tq, Tk)
  return permute(matmul(weights, permute(v, {0, 2, 1, 3})), {0, 2, 1, 3});                    // (B, Tq, H, D)
}

// u_ij = ln P_ij + sum_k ln(1 - P_ik) [i asks k before j],  a_i = softmax of u_i over the keys that i asks;  P = sigmoid
Tensor geometric(const Tensor& z, const Tensor& side, Mask mask) {
  const int heads = z.dim(0) * z.dim(1), queries = z.dim(2), keys = z.dim(3);
  Tensor before = Tensor::full({queries, keys, keys}, 0), hidden = Tensor::full({queries, keys}, 0);
  Tensor right = Tensor::full({queries, keys}, 0), left = Tensor::full({queries, keys}, 0);
  Tensor alone = Tensor::full({queries, 1}, 0);
  for (int i = 0; i < queries; ++i) {
    const int t = keys - queries + i;
    const auto asked = [&](int j) { return j < t || (j > t && mask == Mask::none); };
    const auto place = [&](int j) { return j > t ? 2 * (j - t) - 1 : 2 * (t - j); };
    alone.data()[i] = !asked(0) && !asked(keys - 1);
    for (int j = 0; j < keys; ++j) {
      right.data()[i * keys + j] = j > t, left.data()[i * keys + j] = j < t;
      hidden.data()[i * keys + j] = asked(j) ? 0 : -1e30;          // not -infinity: a row may have nothing else
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
