// The k largest numbers of each row, in order. A heap holds the k largest so far, the smallest of them at its root; the
// rest of the row is compared with the root a vector at a time, and few numbers enter the heap.
#include "core/cpu/rows.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

struct Entry { real value; int column; };

// Whether a ranks before b: NaN before all numbers, then the larger one, then the one further left.
inline bool before(const Entry& a, const Entry& b) {
  const bool a_nan = a.value != a.value, b_nan = b.value != b.value;
  if (a_nan != b_nan) return a_nan;
  if (!a_nan && a.value != b.value) return a.value > b.value;
  return a.column < b.column;
}

// Replaces heap[i] by `entry` in a heap of k entries, in which both children of an entry rank before it.
inline void sift_down(Entry* heap, int k, int i, Entry entry) {
  for (int child = 2 * i + 1; child < k; child = 2 * i + 1) {
    if (child + 1 < k && before(heap[child], heap[child + 1])) ++child;
    if (!before(entry, heap[child])) break;
    heap[i] = heap[child], i = child;
  }
  heap[i] = entry;
}

void top_of_row(Entry* heap, const real* x, int n, int k) {
  for (int j = 0; j < k; ++j) heap[j] = {x[j], j};
  for (int i = k / 2; i-- > 0;) sift_down(heap, k, i, heap[i]);
  for_vectors(n - k, [&](int offset, int count) {
    const Vec v = load_or(x + k + offset, count, -std::numeric_limits<real>::infinity());
    if (!any((v > heap[0].value) | (v != v))) return;
    for (int j = k + offset; j < k + offset + count; ++j)
      if (const Entry entry{x[j], j}; before(entry, heap[0])) sift_down(heap, k, 0, entry);
  });
  for (int last = k - 1; last > 0; --last) {             // the entry that ranks last moves to the end
    const Entry worst = heap[0];
    sift_down(heap, last, 0, heap[last]);
    heap[last] = worst;
  }
}

}  // namespace

void top_k(real* y, real* at, const real* x, int64_t rows, int n, int k) {
  constexpr int64_t grain = 8192;
  parallel_ranges(rows, n < grain ? grain / n : 1, [&](int64_t from, int64_t to) {
    Entry* heap = reinterpret_cast<Entry*>(scratch(0, 2 * int64_t(k)));
    for (int64_t i = from; i < to; ++i) {
      top_of_row(heap, x + i * n, n, k);
      for (int r = 0; r < k; ++r) y[i * k + r] = heap[r].value, at[i * k + r] = real(heap[r].column);
    }
  });
}

void top_k_backward(Accumulator dx, const real* dy, const real* at, int64_t rows, int n, int k) {
  if (!dx) return;
  constexpr int64_t grain = 8192;
  parallel_ranges(rows, n < grain ? grain / n : 1, [&](int64_t from, int64_t to) {
    if (dx.empty)
      for (int64_t e = from * n; e < to * n; ++e) dx.at[e] = 0;
    for (int64_t i = from; i < to; ++i)
      for (int r = 0; r < k; ++r) dx.at[i * n + int(at[i * k + r])] += dy[i * k + r];
  });
}

}  // namespace poslab::POSLAB_ISA
