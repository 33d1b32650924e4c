// Batched matrix products: our own kernel where the matrices stay in cache, OpenBLAS where they do not.
#include "core/cpu/gemm.h"
#include "core/kernels.h"
#include "core/memory.h"
#include "core/parallel.h"
#ifdef POSLAB_WITH_BLAS
#include <cblas.h>
#endif

namespace poslab::POSLAB_ISA {
namespace {

constexpr int rows_per_piece = 64;

// Our kernel packs nothing, so it is ahead while b stays in the second cache. Square products on one core, ours against
// OpenBLAS, in GFLOP/s: AVX-512 512: 114 / 105, 1024: 109 / 102, 2048: 52 / 97. AVX2 256: 111 / 96, 512: 91 / 105. Without
// FMA OpenBLAS, which picks its own instruction set, is ahead from the start.
constexpr int64_t blas_from = registers == 32      ? 1536 * 1024
                              : vector_bytes == 32 ? 400 * 400
                                                   : 32 * 32;  // elements of b
bool large(const Product& p) { return int64_t(p.n) * p.k >= blas_from; }

#ifdef POSLAB_WITH_BLAS
void blas(int m, int n, int k, Left a, bool a_transposed, const real* b, bool b_transposed, real* c, int c_row, bool add) {
  static const bool alone = (openblas_set_num_threads(1), true);   // the cores are parallel_for's, whatever its flavour
  (void)alone;
  const auto ta = a_transposed ? CblasTrans : CblasNoTrans, tb = b_transposed ? CblasTrans : CblasNoTrans;
  const int lda = int(a_transposed ? a.column : a.row), ldb = b_transposed ? k : n;
#ifdef POSLAB_DOUBLE
  cblas_dgemm(CblasRowMajor, ta, tb, m, n, k, 1, a.at, lda, b, ldb, add, c, c_row);
#else
  cblas_sgemm(CblasRowMajor, ta, tb, m, n, k, 1, a.at, lda, b, ldb, add, c, c_row);
#endif
}
#endif

}  // namespace

void matmul(Accumulator c, const real* a, const real* b, const Product& p) {
  const int64_t row_blocks = (p.m + rows_per_piece - 1) / rows_per_piece;
  const bool summed = p.c_step == 0 && p.batch > 1;               // all matrices of the batch go into one c
  const bool b_shared = p.b_step == 0 || p.batch == 1;
  const real* b_untransposed = nullptr;                                // b as (k, n), transposed once if everybody shares it
  if (p.b_transposed && b_shared && !large(p)) {
    real* to = scratch(0, int64_t(p.k) * p.n);
    transpose(p.n, p.k, b, p.k, to, p.n);
    b_untransposed = to;
  }
  parallel_for(summed ? row_blocks : row_blocks * p.batch, [&](int64_t piece) {
    const int64_t first = summed ? 0 : piece / row_blocks, last = summed ? p.batch : first + 1;
    const int i = int(piece % row_blocks) * rows_per_piece, m = p.m - i < rows_per_piece ? p.m - i : rows_per_piece;
    for (int64_t batch = first; batch < last; ++batch) {
      const real* am = a + batch * p.a_step;
      const Left left = p.a_transposed ? Left{am + i, 1, p.m} : Left{am + int64_t(i) * p.k, p.k, 1};
      const real* bm = b + batch * p.b_step;
      real* cm = c.at + batch * p.c_step + int64_t(i) * p.n;
      const bool add = !c.empty || batch > first;
#ifdef POSLAB_WITH_BLAS
      if (large(p)) {
        blas(m, p.n, p.k, left, p.a_transposed, bm, p.b_transposed, cm, p.n, add);
        continue;
      }
#endif
      if (b_untransposed) bm = b_untransposed;
      else if (p.b_transposed) {
        real* to = scratch(1, int64_t(p.k) * p.n);
        transpose(p.n, p.k, bm, p.k, to, p.n);
        bm = to;
      }
      gemm(m, p.n, p.k, left, bm, p.n, cm, p.n, add);
    }
  });
}

}  // namespace poslab::POSLAB_ISA
