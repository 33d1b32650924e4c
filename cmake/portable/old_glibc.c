// Functions that Debian 12's libstdc++ calls and glibc 2.28 lacks. Libraries that are loaded later do not see them.
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

char __libc_single_threaded = 0;   // since 2.32; 0: there may be threads

uint32_t arc4random(void) {        // since 2.36, for std::random_device
  uint32_t drawn;
  if (getrandom(&drawn, sizeof drawn, 0) != (ssize_t)sizeof drawn) abort();
  return drawn;
}
