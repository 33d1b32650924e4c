// The number of allocations of a thread, for tests that bound it.
#pragma once
#include <cstdint>

namespace poslab::test {

int64_t allocations();         // so far by this thread; always 0 under a sanitizer, which has its own operator new

}  // namespace poslab::test
