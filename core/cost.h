// What each kernel has to do at least, whoever runs it, from its arguments: the last column of core/kernels.def.
#pragma once
#include "core/kernels.h"

namespace poslab {

// flops: of the products in the formula, 2 for a multiply-add, as is usual. Functions of one element count none: they
//   are bound by the bytes. What a kernel computes again instead of storing it counts once.
// bytes: every array that is read or written, once. A sum that is added to is read and written; one that is not needed
//   is neither.
struct Cost { double flops = 0, bytes = 0; };

namespace cost {
#define KERNEL(name, result, arguments, ...) Cost name arguments;
#include "core/kernels.def"
#undef KERNEL
}  // namespace cost

}  // namespace poslab
