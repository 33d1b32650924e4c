// Adds biases of queries (AttentionArgs) to copies in memory, and sums their gradients over rows. Only the general
// route needs this; the tiles of cuda/logits.cuh add biases as they load queries.
#pragma once
#include "cuda/queue.h"

namespace poslab::cuda {

void add(real* y, const real* a, const real* b, const StridedLoop&);     // cuda/arithmetic.cu
void copy(Accumulator y, const real* a, const StridedLoop&);
void sum(Accumulator y, const real* a, const StridedLoop&);

// a: (rows, n)   y or b with step 0: (n)
inline StridedLoop over_rows(int64_t rows, int64_t n, int64_t y_step, int64_t b_step) {
  return {.dims = 2, .size = {rows, n}, .y = {y_step, 1}, .a = {n, 1}, .b = {b_step, 1}};
}

// The same call without biases: these are added to copies of the queries in memory.
inline AttentionArgs with_sums(AttentionArgs x) {
  const int64_t rows = int64_t(x.batch) * x.queries;
  const auto add_to = [&](const real*& q, const real*& bias, int buffer, int width) {
    const int64_t n = int64_t(x.heads) * width;
    if (bias) {
      real* const both = scratch(buffer, rows * n);
      add(both, q, bias, over_rows(rows, n, n, 0));
      q = both;
    }
    bias = nullptr;
  };
  add_to(x.piece[0].q, x.q_bias, 12, x.head_dim), add_to(x.q_rel, x.q_rel_bias, 13, x.rel_dim);
  return x;
}

// Computes the gradients of a call with biases by `backward(grads, args)` of the call without biases.
template <class Backward>
void backward_of_sums(const AttentionGrads& d, const AttentionArgs& x, const Backward& backward) {
  const int64_t rows = int64_t(x.batch) * x.queries, n = int64_t(x.heads) * x.head_dim;
  const int64_t n_rel = int64_t(x.heads) * x.rel_dim;
  AttentionGrads of_sums = d;
  of_sums.q_bias = of_sums.q_rel_bias = {};
  Accumulator &q = of_sums.q[0], &q_rel = of_sums.q_rel;
  if (q || d.q_bias) q = {scratch(14, rows * n), true};
  if (q_rel || d.q_rel_bias) q_rel = {scratch(15, rows * n_rel), true};
  backward(of_sums, with_sums(x));
  if (q) copy(d.q[0], q.at, over_rows(rows, n, n, 0)), sum(d.q_bias, q.at, over_rows(rows, n, 0, 0));
  if (q_rel) copy(d.q_rel, q_rel.at, over_rows(rows, n_rel, n_rel, 0)),
             sum(d.q_rel_bias, q_rel.at, over_rows(rows, n_rel, 0, 0));
}

}  // namespace poslab::cuda
