// y_e = x_e keep_e / (1 - rate). The factors of one run of elements at a time are drawn into the first cache.
#include "core/cpu/philox.h"
#include "core/cpu/rows.h"
#include "core/platform/parallel.h"

namespace poslab::POSLAB_ISA {

void dropout(Accumulator y, const real* x, int64_t n, Dropout how) {
  if (!y) return;
  constexpr int64_t run = 1024;
  parallel_ranges(n, 8 * run, [&](int64_t from, int64_t to) {
    real factor[run];
    for (; from < to; from += run) {
      const int64_t count = to - from < run ? to - from : run;
      write_dropout_factors(factor, from, count, how);
      write_row(y.at + from, !y.empty, int(count), [&](int j, int some) {
        return load_some(x + from + j, some) * load_some(factor + j, some);
      });
    }
  });
}

}  // namespace poslab::POSLAB_ISA
