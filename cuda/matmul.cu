// c += a b for each pair of matrices of a batch. Few tiles of results with long sums are split, and so are the
// products of a batch that go into one c: a second launch adds the partial sums in order.
#include "cuda/partial_sums.cuh"

namespace poslab::cuda {

void matmul(Accumulator c, const real* a, const real* b, const Product& p) {
  Job<Into> job{.a = p.a_transposed ? across(a, p.m, p.a_step) : along(a, p.k, p.a_step),
                .b = p.b_transposed ? along(b, p.k, p.b_step) : across(b, p.n, p.b_step),
                .c = c.at, .m = p.m, .n = p.n, .k = p.k,
                .finish = {!c.empty},
                .parts = int(p.batch),
                .k_total = p.batch * p.k,
                .c_step = p.c_step};
  const bool summed = p.c_step == 0 && p.batch > 1;
  PartialSums sums = summed ? PartialSums::of_batch(int(p.batch), p.k) : PartialSums(p.k, tiles(p.m, p.n));
  const bool split = summed || (p.batch == 1 && p.k >= 512 && sums.count() > 1);
  if (split) {
    sums.section(c, int64_t(p.m) * p.n);
    job.c = sums.allocate(), job.c_step = sums.size(), job.finish = {};
    if (!summed) {
      job.a = sums.split(job.a), job.b = sums.split(job.b);
      job.k = sums.length(), job.parts = sums.count();
    }
  }
  multiply(job);
  if (split) sums.add_up();
}

}  // namespace poslab::cuda
