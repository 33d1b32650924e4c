// Multi-head attention over the logits that an encoding hands over; formula, shapes and derivative stand at AttentionArgs in
// core/kernels.h and above the kernels. Leaves out dropout of the weights: the papers' models have none.
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {
namespace {

void check(bool fits, const char* what, const Tensor& x, const Scores& s) {
  if (!fits)
    bad_input(
        "attention: {} is {} with q {} and k {}; shapes are q (B, Tq, H, D), k and v (B, Tk, H, D), q_rel (B, Tq, H, "
        "R), "
        "r (N, H, R), bias (N, H)",
        what, x ? to_string(x.shape()) : "absent", to_string(s.q.shape()), to_string(s.k.shape()));
}

AttentionArgs arguments(const Scores& s, const Tensor& v, Mask mask) {
  check(s.q.dims() == 4 && s.k.dims() == 4 && s.q.dim(0) == s.k.dim(0) && s.q.dim(2) == s.k.dim(2) &&
            s.q.dim(3) == s.k.dim(3),
        "q", s.q, s);
  check(s.q.dim(1) <= s.k.dim(1), "q (the queries are the last of the keys' slots)", s.q, s);
  check(!v || v.shape() == s.k.shape(), "v", v, s);
  AttentionArgs a{
      .batch = s.q.dim(0), .queries = s.q.dim(1), .keys = s.k.dim(1), .heads = s.q.dim(2), .head_dim = s.q.dim(3)};
  a.causal = mask == Mask::causal, a.scale = s.scale;
  a.q = s.q.data(), a.k = s.k.data(), a.v = v.data();
  if (s.q_rel || s.r) {
    check(s.q_rel && s.q_rel.dims() == 4 && s.q_rel.dim(0) == a.batch && s.q_rel.dim(1) == a.queries &&
              s.q_rel.dim(2) == a.heads,
          "q_rel", s.q_rel, s);
    check(s.r && s.r.dims() == 3 && s.r.dim(1) == a.heads && s.r.dim(2) == s.q_rel.dim(3), "r", s.r, s);
    a.q_rel = s.q_rel.data(), a.r = s.r.data(), a.rel_dim = s.r.dim(2), a.rows = s.r.dim(0);
  }
  if (s.bias) {
    check(s.bias.dims() == 2 && s.bias.dim(1) == a.heads && (!s.r || s.bias.dim(0) == a.rows), "bias", s.bias, s);
    a.bias = s.bias.data(), a.rows = s.bias.dim(0);
  }
  if (!s.pairs && a.rows && a.rows != 2 * a.keys - 1)
    bad_input("attention: r or bias has {} rows; without a table of pairs it needs one for each distance, 2 x {} - 1",
              a.rows, a.keys);
  if (s.pairs) {
    const Shape& p = s.pairs.shape();
    if (p.size() != 3 || (p[0] != 1 && p[0] != a.batch) || p[1] != a.queries || p[2] != a.keys)
      bad_input("attention: pairs is {}; it must be (1 or {}, {}, {})", to_string(p), a.batch, a.queries, a.keys);
    for (int64_t i = 0; i < s.pairs.size(); ++i)
      if (s.pairs[i] < 0 || s.pairs[i] >= a.rows)
        bad_input("attention: pairs names row {} of r or bias, which have {}; rows are counted from 0", s.pairs[i],
                  a.rows);
    a.pairs = s.pairs.on(s.q.device()), a.pairs_batch = p[0];
  }
  return a;
}

}  // namespace

Tensor attention(const Scores& s, const Tensor& v, Mask mask) {
  const AttentionArgs args = arguments(s, v, mask);
  const Kernels& run = kernels(v.device());
  Tensor o(s.q.shape(), v.device()), stats({args.batch, args.heads, args.queries, 2}, v.device());
  run.attention(o.data(), stats.data(), args);
  return record("attention", o, {s.q, s.k, s.q_rel, s.r, s.bias, v}, [=, &run](const real* d_o) {
    const auto [dq, dk, dv, dq_rel, dr, dbias] = grad_accumulators(s.q, s.k, v, s.q_rel, s.r, s.bias);
    const AttentionGrads sums{dq, dk, dv, dq_rel, dr, dbias};
    run.attention_backward(sums, args, d_o, o.data(), stats.data());
  });
}

Tensor attention_weights(const Scores& s, Mask mask) {
  const AttentionArgs args = arguments(s, {}, mask);
  Tensor a({args.batch, args.heads, args.queries, args.keys}, s.q.device());
  kernels(s.q.device()).attention_weights(a.data(), args);
  return a;
}

}  // namespace poslab
