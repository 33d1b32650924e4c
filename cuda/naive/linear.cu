// The linear layer: a thread adds up the products of one result. The fast version is cuda/product.cu.
//
//   y_ij = sum_k x_ik w_kj + b_j                                 x: (rows, in)  w: (in, out)  b: (out)  y: (rows, out)
//   dx_ik += sum_j dy_ij w_kj     dw_kj += sum_i x_ik dy_ij     db_j += sum_i dy_ij
//
// Cost, with rows = 128 x 80 and in = out = 64: 655,360 threads load 64 numbers of x and 64 of w each for 64
// multiply-adds, which makes 84 million loads. Each number of x is loaded by 64 threads, each of w by 10,240. Caches
// catch most of them, but a multiply-add still waits for two loads. dw is worse off: 4,096 threads, too few for a GPU,
// each go through all 10,240 rows.
//
// How the fast version differs, step by step:
//   1. A block makes a tile of 32 or 64 rows by 64 columns. The tile's inputs come into shared memory once: 2
//      million loads in place of 84 million, and four numbers at a time.
//   2. A thread has 8 x 4 results in registers: 12 numbers from shared memory serve 32 multiply-adds; above, 2 serve 1.
//   3. The numbers of the next step are on their way while the block works on this one (Fetch).
//   4. A long sum with few results, such as dw, is split among many blocks, and their partial sums are added up in
//      order (cuda/partial_sums.h, cuda/sums.cu).
//   5. Products that do not wait for each other share a launch, and a norm after a product is in its launch, too.
#include "cuda/launch.h"

namespace poslab::cuda::naive {
namespace {

__global__ void multiply(real* y, const real* x, const real* w, const real* b, int64_t rows, int in, int out) {
  for (const int64_t e : all(rows * out)) {
    const int64_t i = e / out, j = e % out;
    real sum = b ? b[j] : real(0);
    for (int k = 0; k < in; ++k) sum += x[i * in + k] * w[int64_t(k) * out + j];
    y[e] = sum;
  }
}

__global__ void of_input(Accumulator dx, const real* dy, const real* w, int64_t rows, int in, int out) {
  for (const int64_t e : all(rows * in)) {
    const int64_t i = e / in, k = e % in;
    real sum = 0;
    for (int j = 0; j < out; ++j) sum += dy[i * out + j] * w[k * out + j];
    add_to(dx, e, sum);
  }
}

__global__ void of_weights(Accumulator dw, const real* dy, const real* x, int64_t rows, int in, int out) {
  for (const int64_t e : all(int64_t(in) * out)) {
    const int64_t k = e / out, j = e % out;
    real sum = 0;
    for (int64_t i = 0; i < rows; ++i) sum += x[i * in + k] * dy[i * out + j];
    add_to(dw, e, sum);
  }
}

__global__ void of_bias(Accumulator db, const real* dy, int64_t rows, int out) {
  for (const int64_t j : all(out)) {
    real sum = 0;
    for (int64_t i = 0; i < rows; ++i) sum += dy[i * out + j];
    add_to(db, j, sum);
  }
}

}  // namespace

void linear(real* y, const real* x, const real* w, const real* b, int64_t rows, int in, int out) {
  launch(multiply, blocks_for(rows * out), threads, y, x, w, b, rows, in, out);
}

void linear_backward(Accumulator dx, Accumulator dw, Accumulator db, const real* dy, const real* x, const real* w,
                     int64_t rows, int in, int out) {
  if (dx) launch(of_input, blocks_for(rows * in), threads, dx, dy, w, rows, in, out);
  if (dw) launch(of_weights, blocks_for(int64_t(in) * out), threads, dw, dy, x, rows, in, out);
  if (db) launch(of_bias, blocks_for(out), threads, db, dy, rows, out);
}

}  // namespace poslab::cuda::naive
