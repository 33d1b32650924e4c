// c = finish(a b): the one product that matmul, linear layers and feed-forward networks are made of (cuda/product.cu).
//
// Products are held back: independent ones share a launch, up to eight of them. So q, k and v of a layer are one
// launch, and so are the gradients of their weights. Their order follows from the memory that each reads and writes.
// Every other launch first starts the products that are held back.
#pragma once
#include <span>
#include <tuple>

#include "cuda/dropout.cuh"

namespace poslab::cuda {

// A matrix is lines of `line` numbers. They lie along the sum, as in a: (m, k) and in a transposed b: (n, k), or
// across it, as in a transposed a: (k, m) and in b: (k, n).
struct Factor {
  const real* at = nullptr;
  int line = 0;
  bool is_along = false;
  int64_t step = 0;                // numbers from one part of the job to the next
  FIELDS(Factor, at, line, is_along, step)
  __device__ bool whole() const { return aligned(at) && line % 4 == 0 && step % 4 == 0; }
};
inline Factor along(const real* at, int k, int64_t step = 0) { return {at, k, true, step}; }
inline Factor across(const real* at, int width, int64_t step = 0) { return {at, width, false, step}; }

// Operations on a sum before it goes to c, in this order; null or false: left out.
struct Finish {
  const real* bias = nullptr;      // (n), added
  bool relu = false;               // negative sums become 0
  const real* gate = nullptr;      // like c: where it is not above 0, the sum becomes 0, as in the gradient of a ReLU
  bool add_to_c = false;
  FIELDS(Finish, bias, relu, gate, add_to_c)
};

struct Term {
  Factor a, b;
  int k = 0;                       // a: (m, k)   b: (k, n), for each part
  FIELDS(Term, a, b, k)
};
// Several products with one c are the terms of one job, so that c is written once. Parts are the products of a batch,
// or the splits of one long sum; a job that has several of them has one term.
constexpr int max_terms = 3, max_jobs = 8;
struct Job {
  Term term[max_terms];
  int terms = 1;
  real* c = nullptr;
  int m = 0, n = 0;                // c: (m, n), for each part
  Finish finish = {};
  int parts = 0;                   // 0: there is nothing to do
  int64_t k_total = 0;             // terms of all parts: the last split may have fewer than k
  int64_t c_step = 0;              // numbers from one part's results to the next part's
  real* b_sums = nullptr;          // (n) for each part, c_step apart: sums of b's columns, or null
  unsigned first_block = 0;
  friend auto fields(const Job& job) {                         // terms beyond `terms` are not read
    const auto& [term, terms, c, m, n, finish, parts, k_total, c_step, b_sums, first_block] = job;
    return std::tuple(terms, std::span(term, size_t(terms)), c, m, n, finish, parts, k_total, c_step, b_sums,
                      first_block);
  }
};
inline Job one_product(Factor a, Factor b, real* c, int m, int n, int k, const Finish& finish) {
  return {.term = {{a, b, k}}, .c = c, .m = m, .n = n, .finish = finish, .parts = 1, .k_total = k};
}

// Starts the job, now or later; results are seen by all that is launched or copied after it.
void multiply(const Job&);

// Whether cuBLAS computes products (core/engine.h), one at a time, except those with sums of b's columns. Callers
// then split no sum, because cuBLAS splits by itself.
bool multiplies_by_library();

// The end of a sub-layer, y = norm(s), s = x + dropout(z), in the launch of the product that makes z. Returns false and
// does nothing (then use norm.cu) unless that product alone is still waiting, and a row is one tile wide.
struct NormOfProduct {
  real *y, *s;
  const real *x, *gain, *bias;
  real epsilon;
  DropoutArgs drop;
  FIELDS(NormOfProduct, y, s, x, gain, bias, epsilon, drop)
};
bool norm_with_product(const real* z, int64_t rows, int n, const NormOfProduct&);

inline int64_t tiles(int64_t m, int n, int rows = 64) {
  return (m > rows ? (m + rows - 1) / rows : 1) * ((n + 63) / 64);
}
// A product is cut into parts until it has this many tiles, two for each multiprocessor.
constexpr int64_t enough_blocks = 2 * multiprocessors;

}  // namespace poslab::cuda
