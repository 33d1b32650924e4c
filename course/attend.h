// Attention of a few tokens in doubles, for tests of steps 5, 6 and 11: the formula, with one mistake if wanted.
#pragma once
#include <functional>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "check.h"

namespace course {

constexpr int B = 2, Tq = 3, Tk = 4, H = 2, D = 2;  // sequences, queries, keys, heads, head size
constexpr int rows = Tq + Tk - 1;                   // distances of a query and a key: j - i = -2 .. 3

// A form of attention, right or wrong. The defaults follow the formula without a mask.
struct Form {
  double scale = 1 / std::sqrt(double(D));
  bool causal = false, strict = false, turned = false;  // j <= i + offset; <; >=
  int offset = 0;
  bool to_zero = false;                     // masked logits are 0, not -infinity
  bool by_query = false;                    // the softmax runs over queries
  bool divided = true, of_largest = false;  // weights are divided by the sum; by the largest exponential
  bool mean_of_values = false;              // weights are not used
  int lengths[B] = {Tk, Tk};
  double temperature = 1;
  std::function<double(int h, int i, int j)> bias = [](int, int, int) { return 0.; };
};

struct Attended {
  Values o, a;  // (B, Tq, H, D), (B, H, Tq, Tk)
};

inline Attended attended(const Values& q, const Values& k, const Values& v, const Form& f = {}) {
  Attended y{Values(size_t(B * Tq * H * D)), Values(size_t(B * H * Tq * Tk))};
  const auto at = [](int b, int t, int h, int d, int T) { return size_t(((b * T + t) * H + h) * D + d); };
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < H; ++h) {
      double e[Tq][Tk], z[Tq] = {}, column[Tk] = {};
      for (int i = 0; i < Tq; ++i)
        for (int j = 0; j < Tk; ++j) {
          double s = 0;
          for (int d = 0; d < D; ++d) s += q[at(b, i, h, d, Tq)] * k[at(b, j, h, d, Tk)];
          const int slot = i + f.offset;
          const bool seen = j < f.lengths[b] && (!f.causal || (f.strict ? j < slot : f.turned ? j >= slot : j <= slot));
          e[i][j] = seen ? std::exp(f.temperature * (f.scale * s + f.bias(h, i, j))) : f.to_zero ? 1. : 0.;
          z[i] += e[i][j], column[j] += e[i][j];
        }
      for (int i = 0; i < Tq; ++i)
        for (int j = 0; j < Tk; ++j) {
          const double sum = !f.divided     ? 1
                             : f.of_largest ? *std::max_element(e[i], e[i] + Tk)
                             : f.by_query   ? column[j]
                                            : z[i];
          const double a = f.mean_of_values ? 1. / Tk : sum == 0 ? 0 : e[i][j] / sum;
          y.a[size_t(((b * H + h) * Tq + i) * Tk + j)] = a;
          for (int d = 0; d < D; ++d) y.o[at(b, i, h, d, Tq)] += a * v[at(b, j, h, d, Tk)];
        }
    }
  return y;
}

struct Sample {
  Values q = some(B * Tq * H * D, 1), k = some(B * Tk * H * D, 2), v = some(B * Tk * H * D, 3);
  Tensor tq = Tensor::from({B, Tq, H, D}, q), tk = Tensor::from({B, Tk, H, D}, k), tv = Tensor::from({B, Tk, H, D}, v);
  poslab::Scores scores() const {
    poslab::Scores s;
    s.pieces = {{tq, tk}};
    s.scale = real(1 / std::sqrt(double(D)));
    return s;
  }
};

}  // namespace course
