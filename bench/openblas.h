// OpenBLAS's matrix product, where the library is there: beside our products, and for the ceiling; in nothing else.
#pragma once
#include <functional>
#include <string>

#include "core/real.h"

namespace poslab {

std::string openblas();   // "OpenBLAS Cooperlake", or "none"

// Runs c = a b for each matrix of the batch, on threads() threads; empty if there is no OpenBLAS, or if there are
// several threads and it is not Debian's libopenblas-pthread: the serial flavour gives wrong numbers where threads call
// it at the same time. The pointers must stay.
std::function<void()> openblas_product(int batch, int m, int k, int n, const real* a, const real* b, real* c);

}  // namespace poslab
