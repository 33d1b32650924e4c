// c += a b for each pair of matrices of a batch. If few tiles of results have long sums, these are split into partial
// sums, which are then added up in order.
#include "cuda/partial_sums.h"

namespace poslab::cuda {

void matmul(Accumulator c, const real* a, const real* b, const Product& p) {
  const Factor left = p.a_transposed ? across(a, p.m, p.a_step) : along(a, p.k, p.a_step);
  const Factor right = p.b_transposed ? along(b, p.k, p.b_step) : across(b, p.n, p.b_step);
  Job job{.term = {{left, right, p.k}},
          .c = c.at, .m = p.m, .n = p.n,
          .finish = {.add_to_c = !c.empty},
          .parts = int(p.batch),
          .k_total = p.batch * p.k,
          .c_step = p.c_step};
  const Splits splits = Splits::of(p.k, tiles(p.m, p.n));
  if (p.batch > 1 || p.k < 512 || splits.count == 1 || multiplies_by_library()) return multiply(job);
  const int64_t n = int64_t(p.m) * p.n;
  job.c_step = in_fours(n), job.c = room_for_sums(splits.count * job.c_step), job.finish = {};
  job.term[0] = {splits(left), splits(right), splits.length}, job.parts = splits.count;
  multiply(job);
  add_up_later({c, job.c, n, job.c_step, splits.count});
}

}  // namespace poslab::cuda
