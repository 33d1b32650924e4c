// Debian 12's Python for glibc 2.28: its archive lacks only this main function, and functions of later glibc versions.
#define _GNU_SOURCE
#include <errno.h>
#include <semaphore.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

int Py_BytesMain(int count, char** words);
int main(int count, char** words) { return Py_BytesMain(count, words); }

#define INSIDE __attribute__((visibility("hidden")))

INSIDE int close_range(unsigned from, unsigned to, int flags) {   // since 2.34; without it Python closes one by one
  errno = ENOSYS;
  return -1;
}

INSIDE void arc4random_buf(void* drawn, size_t size) {               // since 2.36
  if (getrandom(drawn, size, 0) != (ssize_t)size) abort();
}

INSIDE int sem_clockwait(sem_t* semaphore, clockid_t clock, const struct timespec* until) {   // since 2.30
  struct timespec now, there;
  clock_gettime(clock, &now);
  clock_gettime(CLOCK_REALTIME, &there);
  const int64_t second = 1000000000, left = (until->tv_sec - now.tv_sec) * second + until->tv_nsec - now.tv_nsec,
                end = there.tv_sec * second + there.tv_nsec + left;
  there.tv_sec = end / second;
  there.tv_nsec = end % second;
  return sem_timedwait(semaphore, &there);
}
