// Rows of a learned table at indices that need not be whole.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace poslab {

// At indices a_n from 0 to R - 1, interpolated between two rows: (R, ...) -> (N, ...)
//   y_n = (1 - f) table_m + f table_{m+1},   m = floor(a_n), f = a_n - m
Tensor rows_at(const Tensor& table, const std::vector<double>& at);

}  // namespace poslab
