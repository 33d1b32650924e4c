// The position matrix: for each pair of slots, what a scheme makes of their positions. The report draws it side by side
// for a plain and a randomized scheme.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

// m_ij = the displayed value of query i and key j                                      (T, T), of the first sequence
Tensor position_matrix(const Displayed&, const Positions&);

}  // namespace poslab
