// Batched matrix products. A factor b that fits the second cache is read in place. A larger b is copied, 512 rows at
// a time, into panels as wide as a tile of gemm.h, and each panel is then read from its start to its end.
//
// GFLOP/s of this file / of OpenBLAS with the same instructions, on one core of a Xeon (Sapphire Rapids), for square
// matrices of size 1024 and 2048: AVX-512 150 / 162 and 146 / 162; AVX2 83 / 84 and 80 / 86; without FMA 26 / 32.
#include <cstring>

#include "core/cpu/product.h"
#include "core/kernels.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {
namespace {

constexpr int rows_per_piece = 64;
constexpr int block_rows = 192, block_columns = 512, block_inner = 512;   // `a`: 384 KB fit into the L2 cache
constexpr int panel = (registers == 32 ? 4 : 2) * lanes;                  // the columns of a tile

constexpr int smaller(int a, int b) { return a < b ? a : b; }
constexpr int blocks(int n, int size) { return (n + size - 1) / size; }

// Copying b pays off if b is larger than 1 MB and a has enough rows. GFLOP/s without / with it, measured as above,
// for sizes 512, 768, 1024: AVX-512 160 / 155, 145 / 150, 70 / 150; AVX2 83 / 83, 75 / 81, 37 / 80.
bool large(const Product& p) { return int64_t(p.n) * p.k * int64_t(sizeof(real)) > 1 << 20 && p.m >= 32; }

Left left(const Product& p, const real* a, int i, int from) {
  return p.a_transposed ? Left{a + int64_t(from) * p.m + i, 1, p.m} : Left{a + int64_t(i) * p.k + from, p.k, 1};
}

// Rows from .. from + k - 1, columns j .. j + n - 1 of b -> panels one after the other, each (k, panel).
void pack(const Product& p, const real* b, int from, int k, int j, int n, real* to) {
  if (p.b_transposed) {
    for (int at = 0; at < n; at += panel) {
      const int width = smaller(panel, n - at);
      transpose(width, k, b + int64_t(j + at) * p.k + from, p.k, to + int64_t(at) * k, width);
    }
  } else {
    for (int row = 0; row < k; ++row)
      for (int at = 0; at < n; at += panel) {
        const int width = smaller(panel, n - at);
        std::memcpy(to + int64_t(at) * k + row * width, b + int64_t(from + row) * p.n + j + at,
                    size_t(width) * sizeof(real));
      }
  }
}

// Block number `block` of c, over the inner indices from .. from + k - 1.   packed: panels of these rows of b
void multiply_block(const Multiply& multiply, const Product& p, const real* a, const real* packed, real* c,
                    int64_t block, int from, int k, bool add) {
  const int across = blocks(p.n, block_columns);
  const int i = int(block / across) * block_rows, m = smaller(block_rows, p.m - i);
  const int j = int(block % across) * block_columns, end = smaller(j + block_columns, p.n);
  Left rows = left(p, a, i, from);
  if (p.a_transposed) {
    real* untransposed = scratch(1, block_rows * block_inner);
    transpose(k, m, rows.at, p.m, untransposed, k);
    rows = {untransposed, k, 1};
  }
  for (int at = j; at < end; at += panel) {
    const int width = smaller(panel, end - at);
    multiply(m, width, k, rows, packed + int64_t(at) * k, width, c + int64_t(i) * p.n + at, p.n, {.add = add});
  }
}

// Computes one product. However it is cut, element (i, j) is summed over the inner index in the same order.
void large_product(const Multiply& multiply, const Product& p, const real* a, const real* b, real* c, bool add) {
  real* packed = scratch(0, int64_t(block_inner) * p.n);
  const int across = blocks(p.n, block_columns);
  for (int from = 0; from < p.k; from += block_inner, add = true) {
    const int k = smaller(block_inner, p.k - from);
    parallel_for(across, [&](int64_t piece) {
      const int j = int(piece) * block_columns;
      pack(p, b, from, k, j, smaller(block_columns, p.n - j), packed + int64_t(j) * k);
    });
    parallel_for(int64_t(blocks(p.m, block_rows)) * across,
                 [&](int64_t block) { multiply_block(multiply, p, a, packed, c, block, from, k, add); });
  }
}

}  // namespace

void matmul(Accumulator c, const real* a, const real* b, const Product& p) {
  const Multiply multiply;
  if (large(p)) {
    for (int64_t batch = 0; batch < p.batch; ++batch)
      large_product(multiply, p, a + batch * p.a_step, b + batch * p.b_step, c.at + batch * p.c_step, !c.empty);
    return;
  }
  const int64_t row_blocks = blocks(p.m, rows_per_piece);
  const bool b_shared = p.b_step == 0 || p.batch == 1;
  const auto right = [&](const real* bm, int64_t rows, int to, int untransposed) {
    return p.b_transposed ? multiply.transposed(to, untransposed, p.n, p.k, bm)
                          : multiply.right(to, rows, p.k, p.n, bm, p.n);
  };
  const Right shared = b_shared ? right(b, p.m * p.batch, 0, 1) : Right{};  // prepared once for the batch
  parallel_for(row_blocks * p.batch, [&](int64_t piece) {
    const int64_t batch = piece / row_blocks;
    const int i = int(piece % row_blocks) * rows_per_piece, m = smaller(rows_per_piece, p.m - i);
    const Left rows = multiply.left(block_pairs1, m, p.k, left(p, a + batch * p.a_step, i, 0));
    multiply(m, p.n, p.k, rows, b_shared ? shared : right(b + batch * p.b_step, p.m, 2, 1),
             c.at + batch * p.c_step + int64_t(i) * p.n, p.n, {.add = !c.empty});
  });
}

}  // namespace poslab::POSLAB_ISA
