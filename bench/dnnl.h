// oneDNN's matrix product, where the library is there and real is float.
#pragma once
#include <functional>

#include "core/real.h"

namespace poslab {

// Runs c = a b for each matrix of the batch, on threads() threads; empty if there is no oneDNN. The pointers must stay.
std::function<void()> dnnl_product(int batch, int m, int k, int n, real* a, real* b, real* c);

}  // namespace poslab
