// The tests' operators new and delete, which count calls. The array and nothrow operators call these.
#include "tests/core/allocations.h"

#include <cstdlib>
#include <new>

namespace {
thread_local int64_t count = 0;
}

namespace poslab::test {
int64_t allocations() { return count; }
}  // namespace poslab::test

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(size_t bytes) {
  ++count;
  if (void* at = std::malloc(bytes ? bytes : 1)) return at;
  throw std::bad_alloc();
}
void operator delete(void* at) noexcept { std::free(at); }
void operator delete(void* at, size_t) noexcept { std::free(at); }
#endif
