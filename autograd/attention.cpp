// Multi-head attention over the logits of an encoding. Formula and shapes: AttentionArgs in core/kernels.h; derivative:
// core/kernels.def. Leaves out dropout of the weights, as the papers' models do.
#include <algorithm>
#include <array>

#include "autograd/attention_arguments.h"
#include "autograd/ops.h"
#include "autograd/tape.h"

namespace poslab {
namespace {

// Adds the query biases to the queries, for the CPU's kernels, which take no biases.
Scores with_biases(Scores s, const QueryBiases& add) {
  if (add.q) s.pieces[0].q = s.pieces[0].q + add.q;
  if (add.q_rel) s.q_rel = s.q_rel + add.q_rel;
  return s;
}

}  // namespace

Tensor attention(const Scores& s, const Tensor& v, const Span& span, const QueryBiases& add) {
  check_values(s, v, add);
  const bool biased = add.q || add.q_rel;
  if (biased && v.device() == Device::cpu) return attention(with_biases(s, add), v, span);
  AttentionArgs args = attention_arguments(s, v, span);
  args.q_bias = add.q.data(), args.q_rel_bias = add.q_rel.data();
  const Kernels& run = kernels(v.device());
  Tensor o({args.batch, args.queries, args.heads, args.value_dim}, v.device());
  Tensor stats({args.batch, args.heads, args.queries, 2}, v.device());
  run.attention(o.data(), stats.data(), args);
  std::array<Piece, max_pieces> p;  // the absent ones are empty Tensors
  std::copy(s.pieces.begin(), s.pieces.end(), p.begin());
  return record(
      "attention", o,
      {p[0].q, p[0].k, p[1].q, p[1].k, p[2].q, p[2].k, p[3].q, p[3].k, s.q_rel, s.r, s.gain, s.bias, s.temperature, v,
       add.q, add.q_rel},
      [=, &run, q_rel = s.q_rel, r = s.r, gain = s.gain, bias = s.bias, temperature = s.temperature, pairs = s.pairs,
       lengths = span.key_lengths](const real* d_o) {                          // args points into `pairs` and `lengths`
        const bool one_query = biased && q_rel && q_rel.data() == p[0].q.data();
        auto [q0, k0, q1, k1, q2, k2, q3, k3, dv, dq_rel, dr, dgain, dbias, dtemperature, dq_bias, dq_rel_bias] =
            grad_accumulators(p[0].q, p[0].k, p[1].q, p[1].k, p[2].q, p[2].k, p[3].q, p[3].k, v,
                              one_query ? Tensor() : q_rel, r, gain, bias, temperature, add.q, add.q_rel);
        if (one_query) dq_rel = {q0.at, false};        // the kernel writes dq first, and then adds dq_rel
        const AttentionGrads grads{{q0, q1, q2, q3}, {k0, k1, k2, k3}, dv,           dq_rel,  dr,
                                   dgain,            dbias,            dtemperature, dq_bias, dq_rel_bias};
        run.attention_backward(grads, args, d_o, o.data(), stats.data());
      });
}

}  // namespace poslab
