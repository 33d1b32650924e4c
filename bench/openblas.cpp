#include "bench/openblas.h"

#include "core/parallel.h"

#ifdef POSLAB_WITH_BLAS
#include <cblas.h>
#endif

namespace poslab {

#ifdef POSLAB_WITH_BLAS
std::string openblas() { return std::string("OpenBLAS ") + openblas_get_corename(); }

// Its own threads are switched off: each of ours takes a block of rows, or a share of the batch.
std::function<void()> openblas_product(int batch, int m, int k, int n, const real* a, const real* b, real* c) {
  if (threads() > 1 && openblas_get_parallel() != OPENBLAS_THREAD) return {};
  openblas_set_num_threads(1);
  return [=] {
    const int64_t rows = batch > 1 ? batch : m, share = (rows + threads() - 1) / threads();
    parallel_ranges(rows, share, [&](int64_t from, int64_t to) {
      const auto product = [&](int64_t matrix, int64_t row, int64_t rows) {
#ifdef POSLAB_DOUBLE
        cblas_dgemm
#else
        cblas_sgemm
#endif
            (CblasRowMajor, CblasNoTrans, CblasNoTrans, int(rows), n, k, 1, a + (matrix * m + row) * k, k,
             b + matrix * k * n, n, 0, c + (matrix * m + row) * n, n);
      };
      if (batch == 1) return product(0, from, to - from);
      for (int64_t matrix = from; matrix < to; ++matrix) product(matrix, 0, m);
    });
  };
}
#else
std::string openblas() { return "none"; }
std::function<void()> openblas_product(int, int, int, int, const real*, const real*, real*) { return {}; }
#endif

}  // namespace poslab
