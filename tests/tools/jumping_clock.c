// A system clock that jumps. tests/tools/torture.py loads it before all libraries (LD_PRELOAD). Each reading gives
// another time between 1971 and 2100, later or earlier than the last. Clocks that measure durations are unchanged.
#define _GNU_SOURCE
#include <stdatomic.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static time_t jumped(void) {
  static atomic_uint read = 1;
  const unsigned n = atomic_fetch_add(&read, 1) * 2654435769u ^ (unsigned)getpid() * 40503u;
  return 31536000 + (time_t)(n % 4070908800u);
}

int clock_gettime(clockid_t which, struct timespec* at) {
  const int status = (int)syscall(SYS_clock_gettime, which, at);
  if (status == 0 && (which == CLOCK_REALTIME || which == CLOCK_REALTIME_COARSE)) at->tv_sec = jumped();
  return status;
}

int gettimeofday(struct timeval* restrict at, void* restrict zone) {
  const int status = (int)syscall(SYS_gettimeofday, at, zone);
  if (status == 0) at->tv_sec = jumped();
  return status;
}

time_t time(time_t* at) {
  const time_t now = jumped();
  if (at) *at = now;
  return now;
}
