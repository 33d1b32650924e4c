#include "core/memory.h"

#if __has_include(<sys/mman.h>)
#include <sys/mman.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

#include "core/error.h"

namespace poslab {
namespace {

constexpr size_t line = 64;  // a cache line, and the widest vector
constexpr size_t huge_page = 2 << 20;

// Sizes are rounded up to 4 per power of two, so at most a fifth of a block is unused. A request may take any larger free block:
// then a step on short strings lives on what the step on the longest left behind.
size_t class_of(size_t bytes) {
  const int power = std::bit_width(bytes - 1) - 1;  // bytes > 64: 2^power < bytes <= 2^(power+1)
  return size_t(power) * 4 + ((bytes - 1) >> (power - 2)) % 4;
}
size_t size_of_class(size_t c) { return (4 + c % 4 + 1) << (c / 4 - 2); }

struct Pool {
  std::mutex mutex;
  std::array<std::vector<real*>, 256> free;
  Memory count{};
  char* rest = nullptr;  // of the latest region
  size_t rest_bytes = 0;
};
Pool& pool() {
  static Pool* p = new Pool;  // outlives every static Tensor
  return *p;
}

void* from_system(size_t alignment, size_t bytes) {
  void* at = std::aligned_alloc(alignment, bytes);
  if (!at) failure("memory: the system has no {} MiB left; use a smaller batch or a shorter length", bytes >> 20);
  return at;
}

// Blocks are cut from regions of whole huge pages: a step walks through 100 MB, and with pages of 4 KiB it would look up
// an address every 64 cache lines (1 to 4 % of a step).
real* cut(Pool& p, size_t bytes) {
#ifdef __SANITIZE_ADDRESS__  // there every buffer is its own allocation, so that the sanitizer sees its ends
  return static_cast<real*>(from_system(line, bytes));
#endif
  if (p.rest_bytes < bytes) {
    p.rest_bytes = std::max((bytes + huge_page - 1) / huge_page * huge_page, 8 * huge_page);
    p.rest = static_cast<char*>(from_system(huge_page, p.rest_bytes));
#ifdef MADV_HUGEPAGE
    madvise(p.rest, p.rest_bytes, MADV_HUGEPAGE);  // a wish: without it the pages are small
#endif
  }
  p.rest_bytes -= bytes;
  return reinterpret_cast<real*>(std::exchange(p.rest, p.rest + bytes));
}

}  // namespace

Block::Block(int64_t reals) : bytes_(std::max<size_t>(2 * line, size_t(reals) * sizeof(real))) {
  Pool& p = pool();
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
  p.count.bytes_in_use += int64_t(bytes_);
  p.count.bytes_peak = std::max(p.count.bytes_peak, p.count.bytes_in_use);
}

Block::~Block() {
  if (!at_) return;
  Pool& p = pool();
  const std::lock_guard lock(p.mutex);
  p.count.bytes_in_use -= int64_t(bytes_);
#ifdef __SANITIZE_ADDRESS__
  p.count.bytes_held -= int64_t(bytes_);
  std::free(at_);
#else
  p.free[class_of(bytes_)].push_back(at_);
#endif
}

Memory memory() {
  const std::lock_guard lock(pool().mutex);
  return pool().count;
}

real* scratch(int slot, int64_t n) {
  thread_local std::array<std::pair<Block, int64_t>, 16> slots;
  auto& [block, size] = slots[size_t(slot)];
  if (size < n) {
    block = Block();
    block = Block(n), size = n;
  }
  return block.get();
}

}  // namespace poslab
