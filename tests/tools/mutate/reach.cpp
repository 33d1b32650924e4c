// Records the functions that a program reaches, for tools/mutate. With -finstrument-functions each function calls the
// one below when it begins. On a function's first call its address within the program is appended to the file
// POSLAB_MUTATE_REACH.NAME at once, because the process may be killed; processes that tests start do the same.
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

extern "C" const char __executable_start;      // the program's first address, from the linker

namespace {

constexpr size_t places = 1 << 17;             // several times the number of functions
std::atomic<uintptr_t> seen[places];           // the place is a hash of the address, or the next free one
std::atomic<int> file = -1;

int opened() {
  const char* path = std::getenv("POSLAB_MUTATE_REACH");
  if (!path) return -2;
  char name[4096];
  std::snprintf(name, sizeof name, "%s.%s", path, program_invocation_short_name);
  return open(name, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
}

}  // namespace

extern "C" {

[[gnu::no_instrument_function]] void __cyg_profile_func_enter(void* function, void*) {
  const uintptr_t at = uintptr_t(function) - uintptr_t(&__executable_start);
  size_t place = at * 0x9E3779B97F4A7C15u >> 47;
  for (uintptr_t known = 0;; place = (place + 1) % places) {
    known = seen[place].load(std::memory_order_relaxed);
    if (known == at || (known == 0 && !seen[place].compare_exchange_strong(known, at) && known == at)) return;
    if (known == 0) break;
  }
  const int error = errno;
  if (file == -1) file = opened();             // if two threads open it at once, both may write
  if (file >= 0 && write(file, &at, sizeof at) != sizeof at) _exit(99);
  errno = error;
}

[[gnu::no_instrument_function]] void __cyg_profile_func_exit(void*, void*) {}

}  // extern "C"
