// The GPU as a device of poslab: a main program calls add_backend(Device::cuda, cuda::as_backend()).
#pragma once
#include "core/backend.h"

namespace poslab::cuda {

const Backend& as_backend();
// The same GPU with the readable kernels of cuda/naive/ in place of the fast ones, for tests and `poslab_bench naive`.
// Both take the same tensors.
const Backend& as_naive_backend();
int recordings();              // how many steps this thread's queue has recorded, rather than replayed; for tests

// Sets the least number of sequences in a batch for which each encoder block is one kernel (cuda/encoder_block.cu), and
// returns the previous number. At first it is the number in the environment variable POSLAB_BLOCK_KERNEL, else half of
// an H100's multiprocessors.
int block_kernel_from(int sequences);

#ifdef POSLAB_EMULATE
// The emulated device's memory can be touched only during launches and copies and while one of these lives; host code
// that reads a device's pointer is stopped. Opening and closing it takes longer than a small kernel: tests that launch
// thousands keep it open.
struct DeviceMemoryOpen {
  DeviceMemoryOpen();
  ~DeviceMemoryOpen();
};

// While one lives, the emulated GPU accepts all work but runs neither kernels nor copies: the host's cost of a
// step remains, and the GPU's work can be counted. The host reads zeros for results.
struct NothingRuns {
  NothingRuns();
  ~NothingRuns();
};
// While one lives, memory that the emulated GPU hands out, new or again, is full of NaN. So the results of a kernel
// show whether it reads unwritten memory.
struct PoisonedMemory {
  PoisonedMemory();
  ~PoisonedMemory();
};
// While one lives, a kernel may also be given memory of the host: for tests that call kernels directly.
struct HostMemoryToo {
  HostMemoryToo();
  ~HostMemoryToo();
};
struct Given {
  int64_t launches = 0, copies = 0, bytes = 0;       // bytes: copied in both directions
  int64_t held = 0;                                  // bytes of device and pinned memory
};
Given given();                 // launches since the start; each launch of a replayed step counts
#endif

}  // namespace poslab::cuda
