#include "bench/openblas.h"

#include "core/openblas.h"
#include "core/parallel.h"

namespace poslab {

std::string openblas_name() { return has_openblas() ? openblas().name : "none"; }

// Each of our threads takes a block of rows, or a share of the batch.
std::function<void()> openblas_product(int batch, int m, int k, int n, const real* a, const real* b, real* c) {
  if (!has_openblas()) return {};
  return [=] {
    const int64_t rows = batch > 1 ? batch : m, share = (rows + threads() - 1) / threads();
    parallel_ranges(rows, share, [&](int64_t from, int64_t to) {
      constexpr int row_by_row = 101, as_it_lies = 111;               // CBLAS's numbers
      const auto product = [&](int64_t matrix, int64_t row, int64_t count) {
        openblas().gemm(row_by_row, as_it_lies, as_it_lies, int(count), n, k, 1, a + (matrix * m + row) * k, k,
                        b + matrix * k * n, n, 0, c + (matrix * m + row) * n, n);
      };
      if (batch == 1) return product(0, from, to - from);
      for (int64_t matrix = from; matrix < to; ++matrix) product(matrix, 0, m);
    });
  };
}

}  // namespace poslab
