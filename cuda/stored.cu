// Linear layers and tables whose weights lie in memory as files store them, in 32 or 16 bits (core/stored_matrix.h);
// sums are reals. For few rows of x, as in decoding, a weight is read once and widened in a register. For many, a part
// of the matrix at a time is widened into working space, for the product of cuda/product.cu.
#include <type_traits>

#include "core/stored_matrix.h"
#include "cuda/product.h"

namespace poslab::cuda {
namespace {

constexpr int few = 4;                             // rows of x
constexpr int64_t most_wide = 1 << 24;             // numbers in working space

// As many numbers as one load brings.
template <class Number>
struct alignas(16) Several { Number at[16 / sizeof(Number)]; };

// A warp computes one output. whole: rows of w are aligned to 16 bytes, and consist of whole Severals.
template <class Number>
__global__ void multiply_few(real* y, const real* x, const Number* w, const real* b, int rows, int in, int out,
                             bool whole) {
  const int o = (int(blockIdx.x) * threads + int(threadIdx.x)) / warp, lane = int(threadIdx.x) % warp;
  if (o >= out) return;
  const Number* const row = w + int64_t(o) * in;
  real sum[few] = {};
  const auto add = [&](int i, Number weight) {
    UNROLL for (int r = 0; r < few; ++r)
      if (r < rows) sum[r] += x[int64_t(r) * in + i] * real(number_of(weight));
  };
  constexpr int n = int(16 / sizeof(Number));
  if (whole)
    for (int i = lane * n; i < in; i += warp * n) {
      const Several<Number> some = *reinterpret_cast<const Several<Number>*>(row + i);
      UNROLL for (int e = 0; e < n; ++e) add(i + e, some.at[e]);
    }
  else
    for (int i = lane; i < in; i += warp) add(i, row[i]);
  for (int r = 0; r < rows; ++r) {
    const real all = warp_sum(sum[r]);
    if (lane == 0) y[int64_t(r) * out + o] = b ? all + b[o] : all;
  }
}

// Widens columns of a matrix with lines of `line` numbers.                                                to: (m, n)
template <class Number>
__global__ void widen(real* to, const Number* from, int m, int n, int line) {
  for (const int64_t e : all(int64_t(m) * n)) to[e] = real(number_of(from[e / n * line + e % n]));
}

template <class Number>
__global__ void gather_numbers(real* y, const Number* table, const int* at, int64_t rows, int n) {
  for (const int64_t e : all(rows * n)) y[e] = real(number_of(table[int64_t(at[e / n]) * n + e % n]));
}

template <class Number>
void multiply_many(real* y, const real* x, const Number* w, const real* b, int rows, int in, int out) {
  if constexpr (std::is_same_v<Number, real>)
    return multiply(one_product(along(x, in), along(w, in), y, rows, out, in, {.bias = b}));
  else {
    const int64_t fit = most_wide / out / 32 * 32;
    const int most = int(fit < 32 ? 32 : fit < in ? fit : in);
    real* const wide = scratch(9, int64_t(out) * most);
    for (int start = 0; start < in; start += most) {
      const int k = in - start < most ? in - start : most;
      launch(widen<Number>, blocks_for(int64_t(out) * k), threads, wide, w + start, out, k, in);
      multiply(one_product({x + start, in, true}, along(wide, k), y, rows, out, k,
                           {.bias = start ? nullptr : b, .add_to_c = start > 0}));
    }
  }
}

}  // namespace

void linear_stored(real* y, const real* x, StoredAs as, const void* w, const real* b, int64_t rows, int in, int out) {
  with_numbers(as, w, [&]<class Number>(const Number* numbers) {
    if (rows > few) return multiply_many(y, x, numbers, b, int(rows), in, out);
    const bool whole = aligned(numbers) && in % int(16 / sizeof(Number)) == 0;
    launch(multiply_few<Number>, unsigned((int64_t(out) * warp + threads - 1) / threads), threads, y, x, numbers, b,
           int(rows), in, out, whole);
  });
}

void gather_stored(real* y, StoredAs as, const void* table, const int* at, int64_t rows, int n) {
  with_numbers(as, table, [&]<class Number>(const Number* numbers) {
    launch(gather_numbers<Number>, blocks_for(rows * n), threads, y, numbers, at, rows, n);
  });
}

}  // namespace poslab::cuda
