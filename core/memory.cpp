#include "core/memory.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <functional>
#include <vector>

#include "core/backend.h"
#include "core/own_queue.h"
#include "core/parallel.h"

namespace poslab {

struct MemoryPool {
  Device device = Device::cpu;
  Mutex mutex;
  std::array<std::vector<real*>, 256> free;
  Memory count{};
  char* rest = nullptr;  // of the latest region
  size_t rest_bytes = 0;
};

namespace {

constexpr size_t line = 64;  // a cache line, and the widest vector

// Sizes are rounded up to 4 per power of two, so at most a fifth of a block is unused. A request may take any larger
// free block: then a step on short strings lives on what the step on the longest left free.
size_t class_of(size_t bytes) {
  const int power = std::bit_width(bytes - 1) - 1;  // bytes > 64: 2^power < bytes <= 2^(power+1)
  return size_t(power) * 4 + ((bytes - 1) >> (power - 2)) % 4;
}
size_t size_of_class(size_t c) { return (4 + c % 4 + 1) << (c / 4 - 2); }

MemoryPool& pool(Device device) {
  static MemoryPool* all = [] {  // outlive every static Tensor
    MemoryPool* pools = new MemoryPool[1 + most_queues];
    for (int q = 0; q < most_queues; ++q) pools[1 + q].device = Device::cuda;
    return pools;
  }();
  return all[device == Device::cpu ? 0 : 1 + queue_number()];
}

// Blocks are cut from large regions: fewer requests, and on the CPU huge pages.
real* cut(MemoryPool& p, size_t bytes) {
  constexpr size_t region = 16 << 20;
#ifdef __SANITIZE_ADDRESS__  // there every buffer is its own allocation, so that the sanitizer sees its ends
  return static_cast<real*>(backend(p.device).allocate(bytes));
#endif
  if (p.rest_bytes < bytes) {
    const size_t size = std::max(bytes, region);
    p.rest = static_cast<char*>(backend(p.device).allocate(size));   // may throw: then the rest is as it was
    p.rest_bytes = size;
  }
  p.rest_bytes -= bytes;
  return reinterpret_cast<real*>(std::exchange(p.rest, p.rest + bytes));
}

}  // namespace

Block::Block(int64_t reals, Device device)
    : bytes_(std::max<size_t>(2 * line, size_t(reals) * sizeof(real))), asked_(bytes_), pool_(&pool(device)) {
  {
    MemoryPool& p = *pool_;
    const std::lock_guard lock(p.mutex);
    size_t c = class_of(bytes_);
    bytes_ = (size_of_class(c) + line - 1) / line * line;
#ifndef __SANITIZE_ADDRESS__
    const auto fits =
        std::find_if(p.free.begin() + ptrdiff_t(c), p.free.end(), [](auto& blocks) { return !blocks.empty(); });
    if (fits != p.free.end()) {
      at_ = fits->back(), fits->pop_back();
      bytes_ = (size_of_class(size_t(fits - p.free.begin())) + line - 1) / line * line;
    }
#endif
    if (!at_) {
      at_ = cut(p, bytes_);
      ++p.count.system_allocations, p.count.bytes_held += int64_t(bytes_);
    }
    p.count.bytes_in_use += int64_t(bytes_), p.count.bytes_asked += int64_t(asked_);
    p.count.bytes_peak = std::max(p.count.bytes_peak, p.count.bytes_in_use);
  }
  if (const auto tell = backend(device).handed_out) tell(at_, bytes_);
}

Block::~Block() {
  if (!at_) return;
  MemoryPool& p = *pool_;
  const std::lock_guard lock(p.mutex);
  p.count.bytes_in_use -= int64_t(bytes_), p.count.bytes_asked -= int64_t(asked_);
#ifdef __SANITIZE_ADDRESS__
  p.count.bytes_held -= int64_t(bytes_);
  std::free(at_);
#else
  std::vector<real*>& blocks = p.free[class_of(bytes_)];
  // On the CPU the block that was used last comes first, as it is in the cache. Elsewhere the lowest, in whatever order
  // blocks came back: so a recorded step finds its tensors where they were.
  const auto place = p.device == Device::cpu ? blocks.end()
                                             : std::lower_bound(blocks.begin(), blocks.end(), at_, std::greater<>());
  blocks.insert(place, at_);
#endif
}

Memory memory(Device device) {
  MemoryPool& p = pool(device);
  const std::lock_guard lock(p.mutex);
  return p.count;
}

real* scratch(int buffer, int64_t n) {
  thread_local std::array<std::pair<Block, int64_t>, 16> buffers;
  auto& [block, size] = buffers[size_t(buffer)];
  if (size < n) {
    block = Block();
    block = Block(n), size = n;
  }
  return block.get();
}

}  // namespace poslab
