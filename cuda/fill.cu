// to_i = value: sets memory of the GPU to initial values, and clears sums.
#include "cuda/launch.h"

namespace poslab::cuda {
namespace {

__global__ void fill_all(real* to, real value, int64_t n) {
  for (const int64_t i : all(n)) to[i] = value;
}

}  // namespace

void fill(real* to, real value, int64_t n) {
  start_sums_in(to, to + n);
  launch(fill_all, blocks_for(n), threads, to, value, n);
}

}  // namespace poslab::cuda
