// The measured limits of this machine, to which tables compare speeds: the rates of large products and of copies.
#pragma once
#include <cstdint>

namespace poslab {

struct Rates {
  double blas, ours;
};  // GFLOP/s; 0 without an OpenBLAS that allows this many threads
// Rates of 2048 x 2048 x 2048 products: OpenBLAS runs one on each thread, our matmul one on all threads together.
Rates sgemm_rates();
double ceiling();                 // the best of a few products, in GFLOP/s
double copy_rate(int64_t bytes);  // GB/s of a copy; `bytes` and the rate count reads plus writes
void serve_ceiling();  // {"blas", "ours"} in GFLOP/s for every line `ceiling`, until the end of standard input

}  // namespace poslab
