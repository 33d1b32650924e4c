// The contract between ops and hardware: every kernel with its formula and shapes, once. A backend is one table of
// these pointers: core/cpu/table.cpp, cuda/table.cpp. core/kernels.def is the list itself.
//
// A kernel takes pointers and numbers, allocates nothing, throws nothing, knows no Tensor. Matrices are dense and
// row-major. A result of type Accumulator is added to what is there, or assigned if nothing is there yet; a null
// Accumulator is not wanted. Each struct lists its fields once, for what has to see all of them (core/fields.h).
#pragma once
#include <cstdint>
#include <span>

#include "core/accumulator.h"
#include "core/device.h"
#include "core/fields.h"
#include "core/random.h"
#include "core/real.h"

namespace poslab {

// A loop over size[0] x size[1] x ... elements, innermost last, with one step per dimension for each of two or three
// arrays. A step of 0 repeats: that is how shapes broadcast. Steps in any order: that is how a permutation reads.
struct StridedLoop {
  static constexpr int max_dims = 6;
  int dims = 0;
  int64_t size[max_dims], y[max_dims], a[max_dims], b[max_dims];
  [[gnu::always_inline]] int64_t count() const {
    int64_t n = 1;
    for (int d = 0; d < dims; ++d) n *= size[d];
    return n;
  }
  friend auto fields(const StridedLoop& loop) {          // what lies beyond `dims` is not set
    const auto& [dims, size, y, a, b] = loop;
    const auto used = [&](const int64_t* values) { return std::span(values, size_t(dims)); };
    return std::tuple(dims, used(size), used(y), used(a), used(b));
  }
};

// c = a b for each of `batch` pairs of matrices. step: from one matrix of the batch to the next, 0 if shared.
struct Product {
  int64_t batch = 1;
  int m, n, k;               // a: (m, k)   b: (k, n)   c: (m, n)
  bool a_transposed = false;   // a is stored (k, m)
  bool b_transposed = false;   // b is stored (n, k)
  int64_t a_step = 0, b_step = 0, c_step = 0;   // c_step 0: the products of the batch are added up
  FIELDS(Product, batch, m, n, k, a_transposed, b_transposed, a_step, b_step, c_step)
};

// Keeps an element with probability 1 - rate and divides it by the probability that is really used, a multiple of
// 1/65536: element e is kept when 16-bit word w = e % 8 of philox(e / 8, stream) is at least round(65536 rate). Word w
// is the lower half of at[w / 2] if w is even, else the upper.
struct Dropout {
  real rate = 0;
  Stream stream;
  FIELDS(Dropout, rate, stream)
};

// The logits and weights of multi-head attention, doors 2 and 3 of an encoding (encodings/encoding.h). The queries are
// the last `queries` of the `keys` slots, so that i below counts slots from keys - queries on.
//
//   s_ij = scale (q_i . k_j + q_rel_i . r[pair(i,j)]) + bias[pair(i,j)]         causal: only j <= i
//   a_ij = exp(s_ij - max_i) / z_i,  max_i = max_j s_ij,  z_i = sum_j exp(s_ij - max_i)
//   o_i  = sum_j a_ij v_j
//   pair(i,j) = j - i + keys - 1 without `pairs` (then rows = 2 keys - 1), else pairs[b][i][j]
struct AttentionArgs {
  int batch, queries, keys, heads, head_dim;
  bool causal = false;
  real scale = 1;
  // q: (batch, queries, heads, head_dim)   k, v: (batch, keys, heads, head_dim)
  const real *q = nullptr, *k = nullptr, *v = nullptr;
  const real* q_rel = nullptr;         // (batch, queries, heads, rel_dim)     or null
  const real* r = nullptr;             // (rows, heads, rel_dim)               or null
  const real* bias = nullptr;          // (rows, heads)                        or null
  int rel_dim = 0, rows = 0;
  const int* pairs = nullptr;          // (pairs_batch, queries, keys), values in 0 .. rows-1, or null
  int pairs_batch = 1;                 // 1: shared by the batch; else = batch
  FIELDS(AttentionArgs, batch, queries, keys, heads, head_dim, causal, scale, q, k, v, q_rel, r, bias, rel_dim, rows,
         pairs, pairs_batch)
};
struct AttentionGrads {
  Accumulator q, k, v, q_rel, r, bias;   // shapes as above
  FIELDS(AttentionGrads, q, k, v, q_rel, r, bias)
};

// One step of Adam over a flat buffer (Kingma & Ba 2015, algorithm 1).
struct AdamStep {
  real lr, beta1, beta2, epsilon;
  real correction1, correction2;       // 1 - beta1^t, 1 - beta2^t
  real clip;                           // longest norm that a gradient may have
  FIELDS(AdamStep, lr, beta1, beta2, epsilon, correction1, correction2, clip)
};

struct Kernels {
  const char* name = "";
#define KERNEL(name, result, ...) result (*name)(__VA_ARGS__) = nullptr;
#include "core/kernels.def"
#undef KERNEL
};

// The backend of a device. Throws BadInput if this build or this machine does not have it.
const Kernels& kernels(Device);

}  // namespace poslab
