// OpenBLAS's matrix product, where the library is there: beside our products, and for the ceiling.
#pragma once
#include <functional>
#include <string>

#include "core/real.h"
#include "core/rounding.h"

namespace poslab {

std::string openblas_name();   // "OpenBLAS 0.3.21, core Cooperlake, pthread", or "none"

// Runs c = a b for each matrix of the batch, on threads() threads; empty if there is no OpenBLAS that threads may call
// (core/platform/openblas.h). The pointers must stay.
// Factors are reals, or in bf16 numbers of 16 bits, for which it is empty too where the library was built without them.
std::function<void()> openblas_product(Matmul, int batch, int m, int k, int n, const void* a, const void* b, real* c);
bool has_sbgemm();  // whether it was built with bf16

}  // namespace poslab
