// A post-norm encoder block as one op, for a GPU with a kernel for it; the derivative is stated in
// cuda/encoder_block_backward.cu.
//
//   h = norm(x + dropout(attention(x Wq, x Wk, x Wv) Wo))     y = norm(h + dropout(max(h W1 + b1, 0) W2 + b2))
#include "autograd/encoder_block.h"

#include <cmath>
#include <utility>

#include "autograd/argument_checks.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {
namespace {

real scale_of(const LayerTerms& terms, int head_dim) {
  return terms.scale ? terms.scale : real(1 / std::sqrt(double(head_dim)));
}

void check(const Tensor& x, const BlockWeights& w, const LayerTerms& terms, const BlockSizes& n) {
  if (x.dims() != 3 || n.heads < 1 || x.dim(2) % n.heads || n.queries < 1 || n.queries > x.dim(1))
    bad_input("encoder_block: x is {}, with {} heads and {} queries; it must be (B, T, C), heads must divide C, and "
              "queries must be 1 to T", to_string(x.shape()), n.heads, n.queries);
  const int C = x.dim(2), d_ff = w.w1.dim(-1);
  const auto has = [&](const char* what, const Tensor& t, const Shape& shape) {
    if (t.shape() != shape)
      bad_input("encoder_block: {} is {}, and x {}; it must be {}", what, to_string(t.shape()), to_string(x.shape()),
                to_string(shape));
  };
  has("query", w.query, {C, C}), has("key", w.key, {C, C}), has("value", w.value, {C, C});
  has("output", w.output, {C, C}), has("w1", w.w1, {C, d_ff}), has("b1", w.b1, {d_ff}), has("w2", w.w2, {d_ff, C});
  for (const auto& [what, t] : {std::pair{"b2", &w.b2}, {"gain1", &w.gain1}, {"bias1", &w.bias1}, {"gain2", &w.gain2},
                                {"bias2", &w.bias2}})
    has(what, *t, {C});
  const int D = C / n.heads, rows = 2 * x.dim(1) - 1;
  if (terms.rotation.cosine) {
    const int of = terms.rotation.cosine.dim(0) == 1 ? 1 : x.dim(0);
    has("cosine", terms.rotation.cosine, {of, x.dim(1), D / 2});
    has("sine", terms.rotation.sine, {of, x.dim(1), D / 2});
  }
  if (terms.r) has("r", terms.r, {rows, n.heads, D});
  if (terms.bias) has("bias", terms.bias, {rows, n.heads});
  if (terms.biases.q) has("the bias of q", terms.biases.q, {n.heads, D});
  if (terms.biases.q_rel) has("the bias of q_rel", terms.biases.q_rel, {n.heads, D});
}

BlockArgs arguments(const Tensor& x, const BlockWeights& w, const LayerTerms& terms, const BlockSizes& n,
                    Dropout drop1, Dropout drop2) {
  const int B = x.dim(0), T = x.dim(1), D = x.dim(2) / n.heads;
  BlockArgs a{.attention = {.batch = B, .queries = n.queries, .keys = T, .heads = n.heads, .kv_heads = n.heads,
                            .head_dim = D, .value_dim = D, .causal = n.causal, .offset = T - n.queries,
                            .scale = scale_of(terms, D)}};
  a.attention.r = terms.r.data(), a.attention.bias = terms.bias.data();
  if (terms.r) a.attention.rel_dim = D;
  if (terms.r || terms.bias) a.attention.rows = 2 * T - 1;
  a.attention.q_bias = terms.biases.q.data(), a.attention.q_rel_bias = terms.biases.q_rel.data();
  a.d_ff = w.w1.dim(1), a.x = x.data();
  a.query = w.query.data(), a.key = w.key.data(), a.value = w.value.data(), a.output = w.output.data();
  a.gain1 = w.gain1.data(), a.bias1 = w.bias1.data(), a.gain2 = w.gain2.data(), a.bias2 = w.bias2.data();
  a.w1 = w.w1.data(), a.b1 = w.b1.data(), a.w2 = w.w2.data(), a.b2 = w.b2.data();
  if (const Tensor& cosine = terms.rotation.cosine) {
    a.cosine = cosine.data(), a.sine = terms.rotation.sine.data(), a.rotation_batch = cosine.dim(0);
    a.interleaved = terms.pairing == Pairing::interleaved;
  }
  a.dropout1 = drop1, a.dropout2 = drop2;
  return a;
}

// The activations that the forward pass keeps for the backward pass.
struct Kept {
  Tensor memory, rest, figures;
  BlockKept at;
  explicit Kept(const BlockArgs& a, Device device) {
    const int64_t C = a.attention.heads * a.attention.head_dim;
    const int64_t queries = int64_t(a.attention.batch) * a.attention.queries;
    const int64_t keys = int64_t(a.attention.batch) * a.attention.keys, stats = 2 * queries * a.attention.heads;
    memory = Tensor({int(5 * queries + 2 * keys), int(C)}, device);
    rest = Tensor({int(queries), a.d_ff}, device), figures = Tensor({int(stats)}, device);
    real* next = memory.data();
    const auto take = [&](int64_t rows) { return std::exchange(next, next + rows * C); };
    at = {.q = take(queries), .k = take(keys), .v = take(keys), .mixed = take(queries), .stats = figures.data(),
          .s1 = take(queries), .h = take(queries), .s2 = take(queries), .hidden = rest.data()};
  }
};

}  // namespace

Scores scores_of(const LayerTerms& terms, const Tensor& q, const Tensor& k) {
  Scores s{.pieces = {{q, k}}, .scale = scale_of(terms, q.dim(-1))};
  if (const Rotation& all = terms.rotation; all.cosine) {
    const int T = k.dim(1), from = T - q.dim(1);
    const Rotation of_queries = from == 0 ? all : Rotation{slice(all.cosine, 1, from, T), slice(all.sine, 1, from, T)};
    s.pieces[0] = {rotate(q, of_queries, terms.pairing), rotate(k, all, terms.pairing)};
  }
  if (terms.r) s.q_rel = s.pieces[0].q, s.r = terms.r;
  s.bias = terms.bias;
  return s;
}

Tensor encoder_block(const Tensor& x, const BlockWeights& w, const LayerTerms& terms, const BlockSizes& n,
                     Dropout drop1, Dropout drop2) {
  check(x, w, terms, n);
  const Kernels& run = kernels(x.device());
  if (!run.encoder_block) return {};
  check_rate(drop1), check_rate(drop2);
  const BlockArgs args = arguments(x, w, terms, n, drop1, drop2);
  if (!run.encoder_block_fits(args)) return {};
  Tensor y({x.dim(0), n.queries, x.dim(2)}, x.device());
  if (!recording()) {
    run.encoder_block(y.data(), {}, args);
    return without_gradient("encoder_block", y, {x});
  }
  const Kept kept(args, x.device());
  run.encoder_block(y.data(), kept.at, args);
  return record("encoder_block", y,
                {x, w.query, w.key, w.value, w.output, w.gain1, w.bias1, w.w1, w.b1, w.w2, w.b2, w.gain2, w.bias2,
                 terms.r, terms.bias, terms.biases.q, terms.biases.q_rel},
                [=, &run](const real* dy) {
                  const auto d = grad_accumulators(x, w.query, w.key, w.value, w.output, w.gain1, w.bias1, w.w1, w.b1,
                                                   w.w2, w.b2, w.gain2, w.bias2, terms.r, terms.bias, terms.biases.q,
                                                   terms.biases.q_rel);
                  run.encoder_block_backward({.x = d[0], .query = d[1], .key = d[2], .value = d[3], .output = d[4],
                                              .gain1 = d[5], .bias1 = d[6], .w1 = d[7], .b1 = d[8], .w2 = d[9],
                                              .b2 = d[10], .gain2 = d[11], .bias2 = d[12], .r = d[13], .bias = d[14],
                                              .q_bias = d[15], .q_rel_bias = d[16]},
                                             dy, kept.at, args);
                });
}

}  // namespace poslab
