// Running sums along the middle axis of (outer, n, inner). Where inner = 1, the running sums of a vector take
// log2(lanes) shifted additions; else each column of a block has a running sum of its own, in the first cache.
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

constexpr int column_block = 512;

// Lane i gets the value of lane i - by, or in reverse that of lane i + by; a lane without a source gets 0.
template <int by, bool reverse, int... i>
inline Vec shifted(Vec v, std::integer_sequence<int, i...>) {
  return __builtin_shufflevector(v, Vec{}, (reverse ? i + by : i >= by ? i - by : lanes + i)...);
}
template <int by, bool reverse>
inline Vec shifted(Vec v) {
  return shifted<by, reverse>(v, std::make_integer_sequence<int, lanes>());
}
template <bool reverse, int by = 1>
inline Vec running_sums(Vec v) {
  if constexpr (by < lanes) return running_sums<reverse, 2 * by>(v + shifted<by, reverse>(v));
  else return v;
}

template <bool reverse>
void scan_row(real* y, bool add, const real* x, int n, bool exclusive) {
  real sum = 0;                                        // the sum of the vectors before this one
  const int vectors = (n + lanes - 1) / lanes;
  for (int t = 0; t < vectors; ++t) {
    const int j = (reverse ? vectors - 1 - t : t) * lanes, count = n - j < lanes ? n - j : lanes;
    const Vec s = running_sums<reverse>(load_some(x + j, count));
    const Vec value = (exclusive ? shifted<1, reverse>(s) : s) + sum;
    store_some(y + j, add ? load_some(y + j, count) + value : value, count);
    sum += s[reverse ? 0 : lanes - 1];
  }
}

// Scans `width` columns of a matrix (n, inner); x and y point to the first of them.
void scan_columns(real* y, bool add, const real* x, int n, int64_t inner, int width, ScanOrder order) {
  real sum[column_block];
  for (int j = 0; j < width; ++j) sum[j] = 0;
  for (int t = 0; t < n; ++t) {
    const int64_t row = (order.reverse ? n - 1 - t : t) * inner;
    for_vectors(width, [&](int j, int count) {
      const Vec before = load_some(sum + j, count), after = before + load_some(x + row + j, count);
      const Vec value = order.exclusive ? before : after;
      store_some(sum + j, after, count);
      store_some(y + row + j, add ? load_some(y + row + j, count) + value : value, count);
    });
  }
}

}  // namespace

void scan(Accumulator y, const real* x, int64_t outer, int n, int64_t inner, ScanOrder order) {
  if (!y) return;
  constexpr int64_t grain = 8192;
  if (inner == 1)
    return parallel_ranges(outer, n < grain ? grain / n : 1, [&](int64_t from, int64_t to) {
      for (int64_t e = from * n; e < to * n; e += n)
        (order.reverse ? scan_row<true> : scan_row<false>)(y.at + e, !y.empty, x + e, n, order.exclusive);
    });
  const int64_t blocks = (inner + column_block - 1) / column_block;
  parallel_for(outer * blocks, [&](int64_t piece) {
    const int64_t column = piece % blocks * column_block, e = piece / blocks * n * inner + column;
    const int width = int(inner - column < column_block ? inner - column : column_block);
    scan_columns(y.at + e, !y.empty, x + e, n, inner, width, order);
  });
}

}  // namespace poslab::POSLAB_ISA
