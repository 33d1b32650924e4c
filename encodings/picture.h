// The position matrix: what a scheme makes of where two slots are, for each pair. Drawn side by side for a plain and a
// randomized scheme in the report.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

// m_ij = the displayed value of query i and key j                                      (T, T), of the first sequence
Tensor position_matrix(const Displayed&, const Positions&);

}  // namespace poslab
