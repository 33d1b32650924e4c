// The measured limits of this machine, the rates of large products and of copies, with which tables compare speeds.
#pragma once
#include <cstdint>

namespace poslab {

struct Rates {
  double blas, ours;
};  // GFLOP/s; 0 without an OpenBLAS that allows this many threads
// Simultaneous 2048 x 2048 x 2048 products on each thread by OpenBLAS, and one over all threads by our matmul.
Rates sgemm_rates();
double ceiling();                 // the best of a few products, in GFLOP/s
double copy_rate(int64_t bytes);  // GB/s, bytes read plus bytes written, of a copy; bytes: both together
void serve_ceiling();  // {"blas", "ours"} in GFLOP/s for every line `ceiling`, until the end of standard input

}  // namespace poslab
