// c += a b for each pair of matrices of a batch. Few tiles of results with long sums are made in slices, and so are the
// products of a batch that go into one c: a second launch adds up in order.
#include "cuda/slices.cuh"

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
  Slices slices = summed ? Slices::of_batch(int(p.batch), p.k) : Slices(p.k, tiles(p.m, p.n));
  const bool in_slices = summed || (p.batch == 1 && p.k >= 512 && slices.count() > 1);
  if (in_slices) {
    slices.section(c, int64_t(p.m) * p.n);
    job.c = slices.room(), job.c_step = slices.size(), job.finish = {};
    if (!summed) {
      job.a = slices.cut(job.a), job.b = slices.cut(job.b);
      job.k = slices.length(), job.parts = slices.count();
    }
  }
  multiply(job);
  if (in_slices) slices.add_up();
}

}  // namespace poslab::cuda
