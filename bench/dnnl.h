// oneDNN's matrix product, where the library is there and real is float.
#pragma once
#include <functional>

#include "core/real.h"
#include "core/rounding.h"

namespace poslab {

// Runs c = a b for each matrix of the batch, on threads() threads; empty if there is no oneDNN. The pointers must stay.
// Factors are reals, or in bf16 numbers of 16 bits.
std::function<void()> dnnl_product(Matmul, int batch, int m, int k, int n, void* a, void* b, real* c);

}  // namespace poslab
