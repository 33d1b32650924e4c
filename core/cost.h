// The least work that a kernel's arguments demand on any device: the last column of core/kernels.def.
#pragma once
#include "core/kernels.h"

namespace poslab {

// flops: products in the formula count, 2 for a multiply-add, as is usual. Elementwise functions do not count, since
//   bytes bound their time. Values that a kernel recomputes instead of storing them count once.
// bytes: each array that is read or written counts once. An Accumulator that is added to is read and written; if it
//   is not needed, it is neither.
struct Cost { double flops = 0, bytes = 0; };

namespace cost {
#define KERNEL(name, result, arguments, ...) Cost name arguments;
#include "core/kernels.def"
#undef KERNEL
Cost linear_stored(real* y, const real* x, StoredAs, const void* w, const real* b, int64_t rows, int in, int out);
Cost gather_stored(real* y, StoredAs, const void* table, const int* at, int64_t rows, int n);
}  // namespace cost

}  // namespace poslab
