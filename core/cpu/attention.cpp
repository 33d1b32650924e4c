// Fused attention, forward: the weights of a block of query rows live in the cache and are never stored. The formula and the
// shapes stand at AttentionArgs in core/kernels.h; the logits are filled in core/cpu/logits.h.
#include "core/cpu/logits.h"

namespace poslab::POSLAB_ISA {
namespace {

struct Softmax {
  real max, sum;
};

// Rows of logits s -> e_ij = exp(s_ij - max_i), max_i and z_i = sum_j e_ij in `sums`; beyond the keys that are seen e is 0.
void exponentials(real* s, Softmax* sums, const RowBlock& rows) {
  const int width = rows.h.width;
  for (int i = 0; i < rows.m; ++i) {
    real* si = s + i * width;
    const real* bias = rows.bias_row(i);
    const int seen = rows.h.seen(rows.i0 + i);
    Vec top = logit(si, bias, 0, seen), total{};
    for (int j = lanes; j < seen; j += lanes) top = max(top, logit(si, bias, j, seen));
    const real most = max_lanes(top);
    for (int j = 0; j < seen; j += lanes) {
      const Vec e = exp_small(logit(si, bias, j, seen) - most);
      store(si + j, e);
      total += e;
    }
    for (int j = whole_vectors(seen); j < width; j += lanes) store(si + j, Vec{});
    sums[i] = {most, sum_lanes(total)};
  }
}

// Calls done(s, b, rows) with e_ij = exp(s_ij - max_i) of sequence b in s, and softmax_i at `sums`.
template <class Done>
void for_weights(const AttentionArgs& x, const Done& done) {
  const Plan plan(x);
  const auto nothing = [](const RowBlock&, int) {};
  for_units(x, plan, [&](const Head& h, int, int first, int last) {
    for_groups(
        h, plan, first, last, nothing,
        [&](const RowBlock& rows, int from, int to) {
          real* s = scratch(logits_slot, (to - from) * rows.sequence);
          rows.fill(s, from, to);
          Softmax sums[64];
          for (int b = from; b < to; ++b, s += rows.sequence) {
            exponentials(s, sums, rows);
            done(rows, b, s, sums);
          }
        },
        nothing);
  });
}

}  // namespace

// o_i = sum_j e_ij v_j / z_i,  e_ij = exp(s_ij - max_i),  z_i = sum_j e_ij
void attention(real* o, real* stats, const AttentionArgs& x) {
  for_weights(x, [&](const RowBlock& rows, int b, const real* s, const Softmax* sums) {
    const Head& h = rows.h;
    const int D = x.head_dim, step = x.heads * D;
    real *oi = o + h.query(b, rows.i0), *kept = stats + 2 * ((int64_t(b) * x.heads + h.head) * x.queries + rows.i0);
    gemm(rows.m, D, h.seen(rows.i0 + rows.m - 1), {s, h.width, 1}, x.v + h.key(b), step, oi, step, false);
    for (int i = 0; i < rows.m; ++i, oi += step, kept += 2) {
      const real inverse = 1 / sums[i].sum;
      write_channels(oi, D, [=]<int W>(int d) { return load<W>(oi + d) * inverse; });
      kept[0] = sums[i].max, kept[1] = inverse;
    }
  });
}

void attention_weights(real* a, const AttentionArgs& x) {
  for_weights(x, [&](const RowBlock& rows, int b, const real* s, const Softmax* sums) {
    real* ai = a + ((int64_t(b) * x.heads + rows.h.head) * x.queries + rows.i0) * x.keys;
    for (int i = 0; i < rows.m; ++i, ai += x.keys, s += rows.h.width) {
      const real inverse = 1 / sums[i].sum;
      write_row(ai, false, x.keys, [&](int j, int count) { return load_some(s + j, count) * inverse; });
    }
  });
}

}  // namespace poslab::POSLAB_ISA
