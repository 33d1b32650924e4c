#include "core/memory.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <functional>
#include <map>
#include <vector>

#include "core/backend.h"
#include "core/platform/own_queue.h"
#include "core/platform/parallel.h"

#if !defined(__SANITIZE_ADDRESS__) && defined(__has_feature)  // clang's form of GCC's macro
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
// The address sanitizer, or valgrind (the program poslab_memcheck), is told which memory belongs to no buffer, and
// which to a buffer that has no values yet.
#ifdef __SANITIZE_ADDRESS__
#include <sanitizer/asan_interface.h>
#define POSLAB_WATCHED_MEMORY
#define POSLAB_NO_BUFFER(at, bytes) ASAN_POISON_MEMORY_REGION(at, bytes)
#define POSLAB_NO_VALUES(at, bytes) ASAN_UNPOISON_MEMORY_REGION(at, bytes)
#elif defined POSLAB_MEMCHECK
#include <valgrind/memcheck.h>
#define POSLAB_WATCHED_MEMORY
#define POSLAB_NO_BUFFER(at, bytes) VALGRIND_MAKE_MEM_NOACCESS(at, bytes)
#define POSLAB_NO_VALUES(at, bytes) VALGRIND_MAKE_MEM_UNDEFINED(at, bytes)
#endif

namespace poslab {

struct MemoryPool {
  Device device = Device::cpu;
  Mutex mutex;
#ifdef POSLAB_WATCHED_MEMORY
  std::map<size_t, std::vector<real*>> free;  // by size in bytes
#else
  std::array<std::vector<real*>, 256> free;  // by size class
#endif
  Memory count{};
  char* rest = nullptr;  // the part of the latest region that is not cut into blocks yet
  size_t rest_bytes = 0;
};

namespace {

constexpr size_t line = 64;  // a cache line, and the widest vector

// There are 4 sizes per power of two, so at most a fifth of a block is unused. A request may get a free block
// up to 64 times as large: a step on short strings then reuses the blocks of the step on the longest strings, but a
// tensor of one number that is kept for good does not hold megabytes.
[[maybe_unused]] size_t class_of(size_t bytes) {
  const int power = std::bit_width(bytes - 1) - 1;  // bytes > 64: 2^power < bytes <= 2^(power+1)
  return size_t(power) * 4 + ((bytes - 1) >> (power - 2)) % 4;  // NOLINT(*-BitwiseShift): power >= 6
}
[[maybe_unused]] size_t size_of_class(size_t c) { return (4 + c % 4 + 1) << (c / 4 - 2); }

MemoryPool& pool(Device device) {
  static MemoryPool* all = [] {  // never freed: outlives every static Tensor
    MemoryPool* pools = new MemoryPool[1 + max_queues];
    for (int q = 0; q < max_queues; ++q) pools[1 + q].device = Device::cuda;
    return pools;
  }();
  return all[device == Device::cpu ? 0 : 1 + queue_number()];
}

// Blocks are cut from large regions, which take fewer requests and, on the CPU, lie in huge pages.
real* cut(MemoryPool& p, size_t bytes) {
  constexpr size_t region = 16 << 20;
  if (p.rest_bytes < bytes) {
    const size_t size = std::max(bytes, region);
    p.rest = static_cast<char*>(backend(p.device).allocate(size));   // may throw; then `rest` is unchanged
    p.rest_bytes = size;
  }
  p.rest_bytes -= bytes;
  return reinterpret_cast<real*>(std::exchange(p.rest, p.rest + bytes));
}

// On the CPU the block that was used last comes first, because the cache has it. On a GPU the lowest address comes
// first, in whatever order blocks were freed: so a recorded step finds its tensors at the same addresses.
void keep(const MemoryPool& p, std::vector<real*>& free, real* at) {
  const auto place =
      p.device == Device::cpu ? free.end() : std::lower_bound(free.begin(), free.end(), at, std::greater<>());
  free.insert(place, at);
}
real* last_of(std::vector<real*>& free) {
  real* at = free.back();
  return free.pop_back(), at;
}

// Returns a block of at least `bytes`, and sets `bytes` to its actual size.
real* take(MemoryPool& p, size_t& bytes) {
#ifdef POSLAB_WATCHED_MEMORY
  // The sanitizer sees where a buffer ends: the memory after it belongs to no buffer. On the CPU a buffer is an
  // allocation of its own. On a GPU queued or recorded work may reach a buffer after its owner is gone: its block stays
  // in the pool, and only buffers of as many bytes reuse it.
  const size_t room = bytes / line * line + 2 * line;
  if (auto& free = p.free[bytes]; !free.empty()) return last_of(free);
  real* at = p.device == Device::cpu ? static_cast<real*>(backend(p.device).allocate(room)) : cut(p, room);
  POSLAB_NO_BUFFER(reinterpret_cast<char*>(at) + bytes, room - bytes);
#else
  const size_t c = class_of(std::max(bytes, 2 * line));
  const auto last = p.free.begin() + ptrdiff_t(std::min(p.free.size(), c + 4 * 6 + 1));
  const auto fits = std::find_if(p.free.begin() + ptrdiff_t(c), last, [](auto& free) { return !free.empty(); });
  const size_t size = size_of_class(fits == last ? c : size_t(fits - p.free.begin()));
  bytes = (size + line - 1) / line * line;
  if (fits != last) return last_of(*fits);
  real* at = cut(p, bytes);
#endif
  ++p.count.system_allocations, p.count.bytes_held += int64_t(bytes);
  return at;
}

void give_back(MemoryPool& p, real* at, size_t bytes) {
#ifdef POSLAB_WATCHED_MEMORY
  if (p.device != Device::cpu) return keep(p, p.free[bytes], at);
  p.count.bytes_held -= int64_t(bytes);
  std::free(at);
#else
  keep(p, p.free[class_of(bytes)], at);
#endif
}

}  // namespace

Block::Block(int64_t reals, Device device)
    : bytes_(size_t(reals) * sizeof(real)), requested_(std::max(2 * line, bytes_)), pool_(&pool(device)) {
  {
    MemoryPool& p = *pool_;
    const std::lock_guard lock(p.mutex);
    at_ = take(p, bytes_);
    p.count.bytes_in_use += int64_t(bytes_), p.count.bytes_requested += int64_t(requested_);
    p.count.bytes_peak = std::max(p.count.bytes_peak, p.count.bytes_requested);
  }
  if (const auto tell = backend(device).on_allocate) tell(at_, bytes_);
}

Block::~Block() {
  if (!at_) return;
  MemoryPool& p = *pool_;
  const std::lock_guard lock(p.mutex);
  p.count.bytes_in_use -= int64_t(bytes_), p.count.bytes_requested -= int64_t(requested_);
  give_back(p, at_, bytes_);
}

Memory memory(Device device) {
  MemoryPool& p = pool(device);
  const std::lock_guard lock(p.mutex);
  return p.count;
}

void reset_peak(Device device) {
  MemoryPool& p = pool(device);
  const std::lock_guard lock(p.mutex);
  p.count.bytes_peak = p.count.bytes_requested;
}

real* scratch(int buffer, int64_t n) {
  thread_local std::array<std::pair<Block, int64_t>, 16> buffers;
  auto& [block, size] = buffers[size_t(buffer)];
  if (size < n) {
    block = Block(), size = 0;  // the next line may throw
    block = Block(n), size = n;
  }
#ifdef POSLAB_WATCHED_MEMORY  // an earlier caller may have left a larger buffer with values
  if (size > 0) {
    POSLAB_NO_BUFFER(block.get(), size_t(size) * sizeof(real));
    POSLAB_NO_VALUES(block.get(), size_t(n) * sizeof(real));
  }
#endif
  return block.get();
}

}  // namespace poslab
