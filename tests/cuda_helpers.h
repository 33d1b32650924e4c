// For tests that train on a GPU, which is emulated where there is none.
#pragma once
#include "cuda/backend.h"

namespace poslab::test {

// All batches go through encoder blocks of one kernel while one lives, whatever their size; or none does.
struct BlockKernels {
  const int before;
  explicit BlockKernels(bool all = true) : before(cuda::block_kernel_from(all ? 1 : 1 << 30)) {}
  ~BlockKernels() { cuda::block_kernel_from(before); }
};

}  // namespace poslab::test
