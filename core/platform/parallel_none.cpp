// parallel.h for a single thread: the build for WebAssembly has this file in place of parallel.cpp.
#include "core/error.h"
#include "core/platform/parallel.h"

namespace poslab {

int threads() { return 1; }

void set_threads(int n) {
  if (n != 1) bad_input("threads is {}; this build has 1", n);
}

void parallel_pieces(int64_t pieces, void (*piece)(const void*, int64_t), const void* context) {
  for (int64_t i = 0; i < pieces; ++i) piece(context, i);
}

}  // namespace poslab

// Debian's C++ library for WebAssembly lacks __cxa_thread_atexit, which compilers call for a thread_local with a
// destructor. There is one thread, so the destructor runs at the end of the program.
extern "C" int __cxa_atexit(void (*destroy)(void*), void* object, void* library);
extern "C" int __cxa_thread_atexit(void (*destroy)(void*), void* object, void* library) {
  return __cxa_atexit(destroy, object, library);
}
