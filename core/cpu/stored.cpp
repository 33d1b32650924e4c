// Linear layers and tables whose weights are read as files store them, in 32 or 16 bits (core/stored_matrix.h). A block
// of weights is converted to reals in the cache, so the model never lies in memory as reals. For many rows of x,
// factors are rounded as elsewhere (product.h); for few they are not: reading the weights takes most of the time.
#include <type_traits>

#include "core/cpu/product.h"
#include "core/cpu/row_blocks.h"
#include "core/cpu/rows.h"
#include "core/cpu/transpose.h"
#include "core/stored_matrix.h"

namespace poslab::POSLAB_ISA {
namespace {

template <class Number>
inline void widen(const Number* from, int n, real* to) {
#pragma GCC ivdep
  for (int j = 0; j < n; ++j) to[j] = real(number_of(from[j]));
}

constexpr int outputs = 64, inner = 512;  // of a block: 128 KB as reals
enum StoredBuffer { wide_buffer, transposed_buffer };

inline real dot(const real* a, const real* b, int n) {
  Vec sum[4] = {};  // an FMA takes 4 cycles
  int j = 0;
  for (; j + 4 * lanes <= n; j += 4 * lanes)
    for (int u = 0; u < 4; ++u) sum[u] += load(a + j + u * lanes) * load(b + j + u * lanes);
  for (; j < n; j += lanes) {
    const int count = int(smaller_of(lanes, n - j));
    sum[0] += load_some(a + j, count) * load_some(b + j, count);
  }
  return sum_lanes((sum[0] + sum[1]) + (sum[2] + sum[3]));
}

// For few rows of x, as in decoding: each weight is read once, and an output is a dot product with its row of w.
template <class Number>
void multiply_few(real* y, const real* x, const Number* w, const real* b, int64_t rows, int in, int out) {
  parallel_ranges(out, outputs, [=](int64_t from, int64_t to) {
    real* wide = scratch(wide_buffer, in);
    for (int64_t o = from; o < to; ++o) {
      const real* row = wide;
      if constexpr (std::is_same_v<Number, real>)
        row = w + o * in;
      else
        widen(w + o * in, in, wide);
      for (int64_t r = 0; r < rows; ++r) y[r * out + o] = dot(x + r * in, row, in) + (b ? b[o] : 0);
    }
  });
}

// For many rows of x: a block of weights is widened and transposed, and multiplied by all rows of x.
template <class Number>
void multiply_many(real* y, const real* x, const Number* w, const real* b, int64_t rows, int in, int out) {
  const Multiply multiply;
  const int m = int(rows);
  const Left all = multiply.left(shared_pairs, m, in, {x, in, 1});
  parallel_ranges(out, outputs, [=](int64_t from, int64_t to) {
    real* wide = scratch(wide_buffer, outputs * inner);
    const int n = int(to - from);
    const auto columns = [&](int k, const real* block, ptrdiff_t row) {
      return multiply.transposed(transposed_buffer, block_pairs1, n, k, block, row);
    };
    for (int start = 0; start < in; start += inner) {
      const int k = int(smaller_of(inner, in - start));
      const Number* block = w + from * in + start;
      Right ws;
      if constexpr (std::is_same_v<Number, real>) {
        ws = columns(k, block, in);
      } else {
        for (int o = 0; o < n; ++o) widen(block + int64_t(o) * in, k, wide + int64_t(o) * k);
        ws = columns(k, wide, k);
      }
      const Left xs = multiply.from_column(all, start);
      const Finish first{.bias = b ? b + from : nullptr}, more{.add = true};
      multiply(m, n, k, xs, ws, y + from, out, start == 0 ? first : more);
    }
  });
}

}  // namespace

// y = x w^T + b
void linear_stored(real* y, const real* x, StoredAs as, const void* w, const real* b, int64_t rows, int in, int out) {
  with_numbers(as, w, [&](auto* numbers) {
    if (rows <= 4)
      multiply_few(y, x, numbers, b, rows, in, out);
    else
      multiply_many(y, x, numbers, b, rows, in, out);
  });
}

void gather_stored(real* y, StoredAs as, const void* table, const int* at, int64_t rows, int n) {
  with_numbers(as, table, [&](auto* numbers) {
    for (int64_t i = 0; i < rows; ++i) widen(numbers + int64_t(at[i]) * n, n, y + i * n);
  });
}

}  // namespace poslab::POSLAB_ISA
