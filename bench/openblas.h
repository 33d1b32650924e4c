// OpenBLAS's matrix product, where the library is there: beside our products, and for the ceiling.
#pragma once
#include <functional>
#include <string>

#include "core/real.h"

namespace poslab {

std::string openblas_name();   // "OpenBLAS 0.3.21, core Cooperlake, pthread", or "none"

// Runs c = a b for each matrix of the batch, on threads() threads; empty if there is no OpenBLAS that threads may call
// (core/openblas.h). The pointers must stay.
std::function<void()> openblas_product(int batch, int m, int k, int n, const real* a, const real* b, real* c);

}  // namespace poslab
