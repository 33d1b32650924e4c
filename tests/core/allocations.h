// How often this thread has asked the C++ library for memory, for tests that bound it.
#pragma once
#include <cstdint>

namespace poslab::test {

int64_t allocations();         // 0 under a sanitizer, which brings an operator new of its own

}  // namespace poslab::test
