// For tests on a GPU, or on an emulated one.
#pragma once
#include "core/backend.h"
#include "core/tensor.h"
#include "cuda/backend.h"
#include "tests/op_cases/op_case.h"

namespace poslab::test {

inline const bool cuda_is_there = (add_backend(Device::cuda, cuda::as_backend()), true);

// While it lives, the host can access device memory, which is quicker: for tests that launch thousands of kernels.
#ifdef POSLAB_EMULATE
constexpr bool emulated = true;
using Quick = cuda::DeviceMemoryOpen;
#else
constexpr bool emulated = false;
struct [[maybe_unused]] Quick {};
#endif

inline bool is_small(const OpCase& c, int64_t most) {
  int64_t size = 0;
  for (const Shape& shape : c.shapes) size += size_of(shape);
  return size <= most;
}

// Results differ from the CPU's in the order of sums, and in the products that are summed: close, not equal.
constexpr double cuda_tolerance = sizeof(real) == 8 ? 1e-11 : 1e-5;

// While it lives, batches of every size use the kernels of whole encoder blocks, or no batch does.
struct BlockKernels {
  const int before;
  explicit BlockKernels(bool all = true) : before(cuda::block_kernel_from(all ? 1 : 1 << 30)) {}
  ~BlockKernels() { cuda::block_kernel_from(before); }
};

}  // namespace poslab::test
