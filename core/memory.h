// Tensor buffers come from a pool of blocks that grows during the first steps and is then only recycled: after warm-up
// a training step asks the system for no memory. `memory()` counts requests, so that a test can check this.
#pragma once
#include <cstddef>
#include <cstdint>
#include <utility>

#include "core/device.h"
#include "core/real.h"

namespace poslab {

struct MemoryPool;

// One buffer of a device's pool, 64-byte aligned; its destructor gives it back to the pool. On a GPU each queue
// (core/platform/own_queue.h) has its own pool, and runs work in order: a reused buffer has no reader left.
class Block {
 public:
  Block() = default;
  explicit Block(int64_t reals, Device = Device::cpu);
  Block(Block&& b) noexcept
      : at_(std::exchange(b.at_, nullptr)), bytes_(b.bytes_), requested_(b.requested_), pool_(b.pool_) {}
  Block& operator=(Block&& b) noexcept {
    std::swap(at_, b.at_), std::swap(bytes_, b.bytes_), std::swap(requested_, b.requested_), std::swap(pool_, b.pool_);
    return *this;
  }
  ~Block();
  real* get() const { return at_; }

 private:
  real* at_ = nullptr;
  size_t bytes_ = 0, requested_ = 0;
  MemoryPool* pool_ = nullptr;
};

struct Memory {
  int64_t system_allocations;  // times that the pool asked the system for a new block
  int64_t bytes_held;          // held by tensors and by the pool's free list
  int64_t bytes_in_use;        // by tensors
  int64_t bytes_requested;     // requested by tensors; their blocks may be larger
  int64_t bytes_peak;          // largest bytes_requested so far, or since the latest reset_peak()
};
Memory memory(Device = Device::cpu);   // on a GPU: of the calling thread's queue
void reset_peak(Device = Device::cpu);

// Working space of one kernel on the calling thread: at least n reals, valid until the thread's next call with the
// same `buffer`, a number from 0 to 15. Kernels use it because they may not allocate.
real* scratch(int buffer, int64_t n);

}  // namespace poslab
