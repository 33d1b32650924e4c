// The kernel table for --matmul bf16 on processors that multiply pairs of bf16. Kernels that call products are compiled
// for this set from the sources one folder up; the others are copied from a given table.
#include "core/kernels.h"

namespace poslab::POSLAB_ISA {

#define KERNEL(name, result, arguments, ...) result name arguments;
#include "core/kernels.def"
#undef KERNEL
void linear_stored(real*, const real*, StoredAs, const void*, const real*, int64_t, int, int);

Kernels with_products(const Kernels& others) {
  Kernels k = others;
  k.matmul = matmul;
  k.linear = linear, k.linear_backward = linear_backward, k.linear_stored = linear_stored;
  k.feed_forward = feed_forward, k.feed_forward_backward = feed_forward_backward;
  k.attention = attention, k.attention_backward = attention_backward;
  k.gated_feed_forward = gated_feed_forward, k.gated_feed_forward_backward = gated_feed_forward_backward;
  return k;
}

}  // namespace poslab::POSLAB_ISA
