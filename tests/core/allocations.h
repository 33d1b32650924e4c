// The number of allocations of a thread, for tests that bound it.
#pragma once
#include <cstdint>

namespace poslab::test {

int64_t allocations();         // by this thread so far; always 0 under a sanitizer, which brings its own operator new

}  // namespace poslab::test
