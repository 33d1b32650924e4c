// Fused attention, forward: the weights of a block of query rows live in the cache and are never stored. The formula and the
// shapes stand at AttentionArgs in core/kernels.h; the logits are filled in core/cpu/logits.h.
#include "core/cpu/logits.h"

namespace poslab::POSLAB_ISA {
namespace {

struct Softmax { real max, sum; };

// s_j <- exp(s_j - max) along a row of whole vectors
Softmax exponentials(real* s, int width) {
  Vec top = load(s), z{};
  for (int j = lanes; j < width; j += lanes) top = max(top, load(s + j));
  const real most = max_lanes(top);
  for (int j = 0; j < width; j += lanes) {
    const Vec e = exp(load(s + j) - most);
    store(s + j, e);
    z += e;
  }
  return {most, sum_lanes(z)};
}

}  // namespace

// o_i = sum_j e_ij v_j / z_i,  e_ij = exp(s_ij - max_i),  z_i = sum_j e_ij
void attention(real* o, real* stats, const AttentionArgs& x) {
  const Plan plan(x);
  const int D = x.head_dim, row = x.heads * D;
  for_units(x, plan, [&](int head, int, int first, int last) {
    const Head h{x, head};
    for_blocks(x, plan, first, last, [&](int from, int to, int i0, int m) {
      real* s = scratch(logits_slot, int64_t(to - from) * m * h.width);
      h.fill(s, from, to, i0, m);
      for (int b = from; b < to; ++b, s += m * h.width) {
        real* w = stats + 2 * ((int64_t(b) * x.heads + head) * x.queries + i0);
        for (int i = 0; i < m; ++i) {
          const Softmax row = exponentials(s + i * h.width, h.width);
          w[2 * i] = row.max, w[2 * i + 1] = 1 / row.sum;
        }
        real* ob = o + h.query(b, i0);
        gemm(m, D, h.seen(i0 + m - 1), {s, h.width, 1}, x.v + h.key(b), row, ob, row, false);
        for (int i = 0; i < m; ++i)
          for (int d = 0; d < D; ++d) ob[i * row + d] *= w[2 * i + 1];
      }
    });
  });
}

void attention_weights(real* a, const AttentionArgs& x) {
  const Plan plan(x);
  for_units(x, plan, [&](int head, int, int first, int last) {
    const Head h{x, head};
    for_blocks(x, plan, first, last, [&](int from, int to, int i0, int m) {
      real* s = scratch(logits_slot, int64_t(to - from) * m * h.width);
      h.fill(s, from, to, i0, m);
      for (int b = from; b < to; ++b)
        for (int i = i0; i < i0 + m; ++i, s += h.width) {
          const real sum = exponentials(s, h.width).sum;
          real* ai = a + ((int64_t(b) * x.heads + head) * x.queries + i) * x.keys;
          for (int j = 0; j < x.keys; ++j) ai[j] = s[j] / sum;
        }
    });
  });
}

}  // namespace poslab::POSLAB_ISA
