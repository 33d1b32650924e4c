// The second half of sums over very many rows: blocks leave partial sums of their rows, and these are added up in
// order, without atomics, so that the bits are the same every time.
//
// Most are gradients of parameters, which only the optimizer reads. So sums are held back too, like products
// (cuda/product.h), and one launch adds up the sums of many layers. It comes before any launch that is given the
// address of a result, or once 32 MiB of partial sums wait, the size of a GPU's cache.
#pragma once
#include "cuda/launch.h"

namespace poslab::cuda {

// to_e += sum_s partial[s pitch + e], e < n, s < splits
struct Section {
  Accumulator to;
  const real* partial = nullptr;
  int64_t n = 0, pitch = 0;
  int splits = 0;
  unsigned first_block = 0;
  FIELDS(Section, to, partial, n, pitch, splits, first_block)
};

// Memory for partial sums, aligned to 16 bytes. An op asks once, starts a kernel to fill it, and calls add_up_later().
real* room_for_sums(int64_t n);
void add_up_later(Section);

}  // namespace poslab::cuda
