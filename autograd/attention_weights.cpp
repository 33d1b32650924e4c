// Attention's weights and the statistics of its rows, for pictures and traces; they have no gradient.
#include "autograd/attention_arguments.h"
#include "autograd/ops.h"
#include "autograd/tape.h"

namespace poslab {
namespace {

// The tensors that the weights are computed from.
std::vector<Input> inputs_of(const Scores& s) {
  std::vector<Input> all;
  for (const Piece& p : s.pieces) all.push_back(p.q), all.push_back(p.k);
  for (const Tensor* x : {&s.q_rel, &s.r, &s.gain, &s.bias, &s.temperature}) all.push_back(*x);
  return all;
}

}  // namespace

Tensor attention_weights(const Scores& s, const Span& span) {
  const AttentionArgs args = attention_arguments(s, {}, span);
  const Device device = s.pieces[0].q.device();
  Tensor a({args.batch, args.heads, args.queries, args.keys}, device);
  kernels(device).attention_weights(a.data(), args);
  return without_gradient("attention_weights", a, inputs_of(s));
}

Tensor attention_statistics(const Scores& s, const Span& span) {
  const AttentionArgs args = attention_arguments(s, {}, span);
  const Device device = s.pieces[0].q.device();
  Tensor y({args.batch, args.heads, args.queries, statistics_per_row}, device);
  kernels(device).attention_statistics(y.data(), args);
  return without_gradient("attention_statistics", y, inputs_of(s));
}

}  // namespace poslab
