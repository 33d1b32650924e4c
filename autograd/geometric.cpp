// The weights of geometric attention; formulas and the order of keys are in core/more_kernels.def. Leaves out
// the un-normalized form: NDR divides by the sum by default, and so did the experiment of table 5 (spec A.1 (14)).
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

Tensor geometric(const Tensor& z, const Tensor& side, const Span& span) {
  if (z.dims() < 2 || z.dim(-2) > z.dim(-1))
    bad_input("geometric: match logits are {}; they must be (..., Tq, Tk), with Tq at most Tk",
              to_string(z.shape()));
  Shape two = z.shape();
  two.back() = 2;
  if (side.shape() != two)
    bad_input("geometric: side is {} with match logits {}; it must be {}, a number for the keys on the right and one "
              "for those on the left", to_string(side.shape()), to_string(z.shape()), to_string(two));
  const Kernels& run = kernels(z.device());
  const int queries = z.dim(-2), keys = z.dim(-1);
  const bool causal = span.causal;
  if (span.key_lengths || span.offset != keys - queries)
    bad_input("geometric: its queries must be the last {} of {} slots, without padding; offset is {}{}, and must be {}",
              queries, keys, span.offset, span.key_lengths ? " and there are key lengths" : "", keys - queries);
  Tensor a(z.shape(), z.device());
  run.geometric(a.data(), z.data(), side.data(), z.rows(), queries, keys, causal);
  return record("geometric", a, {z, side}, [=, &run](const real* da) {
    const auto [dz, dside] = grad_accumulators(z, side);
    run.geometric_backward(dz, dside, da, a.data(), z.data(), side.data(), z.rows(), queries, keys, causal);
  });
}

}  // namespace poslab
