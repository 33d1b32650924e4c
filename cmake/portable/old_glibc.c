// What libstdc++ of Debian 12 calls and glibc 2.28 does not have. Not seen by libraries that are loaded later.
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

char __libc_single_threaded = 0;   // since 2.32: here always as if there were threads

uint32_t arc4random(void) {        // since 2.36, for std::random_device
  uint32_t drawn;
  if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn) abort();
  return drawn;
}
