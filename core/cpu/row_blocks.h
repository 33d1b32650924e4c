// The backward pass of a layer over many rows, in blocks. A block stays in the cache from the first operation to the
// last. Threads take runs of blocks; each run has a partial sum of the weights' gradients. The number of runs follows
// from the number of rows alone, so results do not depend on the number of threads.
#pragma once
#include "core/cpu/gemm.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {

constexpr int row_block = 96;   // rows of a block: a multiple of the rows of every tile (gemm.h)
enum RowBlockBuffer { transposed_buffer, partials_buffer, hidden_buffer, transposed2_buffer, column_blocks_buffer };

inline int64_t smaller_of(int64_t a, int64_t b) { return a < b ? a : b; }

// At most 16 partial sums, of `reals` numbers each, over blocks of `block` rows.
class PartialSums {
 public:
  PartialSums(int64_t rows, int64_t reals, int block = row_block)
      : rows_(rows), reals_(reals), block_(block), partial_(scratch(partials_buffer, count() * reals)) {}

  // Calls work(partial sum, first row, rows, whether to add to the partial sum) for each block of rows. The blocks of
  // one partial sum come in order; different partial sums may be worked on at the same time.
  template <class Work>
  void run(const Work& work) const {
    const int64_t blocks = (rows_ + block_ - 1) / block_, n = count();
    parallel_for(n, [&](int64_t s) {
      const int64_t begin = blocks * s / n, end = blocks * (s + 1) / n;
      for (int64_t t = begin; t < end; ++t)
        work(partial_ + s * reals_, t * block_, int(smaller_of(block_, rows_ - t * block_)), t > begin);
    });
  }
  // to_e += sum over all partial sums of their element offset + e, in order                        e < n
  void add_up(Accumulator to, int64_t offset, int64_t n) const {
    if (!to) return;
    parallel_ranges(n, 4096, [&](int64_t from, int64_t until) {
      for (int64_t e = from; e < until; ++e) {
        real sum = to.empty ? 0 : to.at[e];
        for (int64_t s = 0; s < count(); ++s) sum += partial_[s * reals_ + offset + e];
        to.at[e] = sum;
      }
    });
  }

 private:
  int64_t count() const { return smaller_of(16, (rows_ + block_ - 1) / block_); }
  int64_t rows_, reals_, block_;
  real* partial_;
};

// to_j = sum_i from_ij, added to to_j if add                    from: (m, n), rows `row` reals apart
inline void sum_of_rows(real* to, const real* from, int m, int n, int row, bool add) {
  int j = 0;
  const auto columns = [&]<int W>() {
    for (; j + W <= n; j += W) {
      VecOf<W> sum = add ? load<W>(to + j) : VecOf<W>{};
      for (int i = 0; i < m; ++i) sum += load<W>(from + int64_t(i) * row + j);
      store<W>(to + j, sum);
    }
  };
  columns.template operator()<lanes>();
  columns.template operator()<1>();
}

}  // namespace poslab::POSLAB_ISA
