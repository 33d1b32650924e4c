// The limits of this machine, measured: the rate of large products, and of copies. Shares are shares of these.
#pragma once
#include <cstdint>

namespace poslab {

struct Rates {
  double blas, ours;
};  // GFLOP/s; 0 where there is no OpenBLAS that so many threads may call
// One 2048 x 2048 x 2048 product for each thread at the same time by OpenBLAS, and one over all threads by our matmul.
Rates sgemm_rates();
double ceiling();                 // the best of a few of them, in GFLOP/s
double copy_rate(int64_t bytes);  // GB/s, bytes read plus bytes written, of a copy that moves so many in all
void serve_ceiling();  // {"blas", "ours"} in GFLOP/s for every line `ceiling`, until the end of standard input

}  // namespace poslab
