#include "core/parallel.h"

#include <omp.h>

#include <cstdlib>

#include "core/error.h"

namespace poslab {
namespace {

int from_environment() {
  const char* text = std::getenv("POSLAB_THREADS");
  if (!text) return omp_get_num_procs();
  char* end;
  const long n = std::strtol(text, &end, 10);
  if (*end || n < 1 || n > 256) bad_input("POSLAB_THREADS is \"{}\"; give a number from 1 to 256", text);
  return int(n);
}
int& count() {
  static int n = from_environment();
  return n;
}

}  // namespace

int threads() { return count(); }

void set_threads(int n) {
  if (n < 1 || n > 256) bad_input("threads is {}; give a number from 1 to 256", n);
  count() = n;
}

void parallel_pieces(int64_t pieces, void (*piece)(const void*, int64_t), const void* context) {
  if (threads() == 1 || pieces <= 1 || omp_in_parallel()) {
    for (int64_t i = 0; i < pieces; ++i) piece(context, i);
    return;
  }
  // The same team every time: OpenMP keeps its threads only while their number stays the same.
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads())
  for (int64_t i = 0; i < pieces; ++i) piece(context, i);
}

}  // namespace poslab
