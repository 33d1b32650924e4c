// The kernels of attention for the tests of the course: the formula of core/cpu/attention/naive.h, which students write
// in steps 5 and 6. The fast kernels are left out until step 9.
#include <vector>

#include "core/cpu/attention/naive.h"

namespace poslab::baseline {
namespace {

// Memory for unwanted sums. Sums that the first writer would assign begin at 0, because the formula only adds.
class Sums {
 public:
  Accumulator of(const Accumulator& wanted, const void* read, int64_t n) {
    if (!read) return {};
    if (!wanted) return {unwanted_.emplace_back(std::vector<real>(size_t(n))).data(), false};
    if (wanted.empty) std::fill_n(wanted.at, n, real(0));
    return {wanted.at, false};
  }

 private:
  std::vector<std::vector<real>> unwanted_;
};

}  // namespace

void attention(real* o, real* stats, const AttentionArgs& x) {
  std::fill_n(stats, int64_t(x.batch) * x.heads * x.queries * 2, real(0));  // the backward pass recomputes the weights
  naive::attention(o, x);
}

void attention_weights(real* a, const AttentionArgs& x) {
  naive::for_rows(x, [&](const naive::Row& row, int i) {
    const std::vector<double> weights = row.weights(i);
    std::copy(weights.begin(), weights.end(), a + ((int64_t(row.b) * x.heads + row.h) * x.queries + i) * x.keys);
  });
}

void attention_backward(const AttentionGrads& d, const AttentionArgs& x, const real* d_o, const real*, const real*) {
  const int64_t B = x.batch, H = x.heads, G = x.kv_heads, Tq = x.queries, Tk = x.keys;
  Sums sums;
  AttentionGrads all;
  for (int p = 0; p < x.pieces; ++p) {
    all.q[p] = sums.of(d.q[p], x.piece[p].q, B * Tq * H * x.head_dim);
    all.k[p] = sums.of(d.k[p], x.piece[p].k, B * Tk * G * x.head_dim);
  }
  all.v = sums.of(d.v, x.v, B * Tk * G * x.value_dim);
  all.q_rel = sums.of(d.q_rel, x.q_rel, B * Tq * H * x.rel_dim), all.r = sums.of(d.r, x.r, x.rows * H * x.rel_dim);
  all.gain = sums.of(d.gain, x.gain, x.rows * H), all.bias = sums.of(d.bias, x.bias, x.rows * H);
  all.temperature = sums.of(d.temperature, x.temperature, x.temperature_batch * Tq * x.temperature_heads);
  naive::attention_backward(all, x, d_o);
}

}  // namespace poslab::baseline
