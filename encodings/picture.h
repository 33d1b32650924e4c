// The position matrix: what each pair of slots is told about where the other is. StepInputs side by side for a plain and a
// randomized scheme in the report.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

// m_ij = what Encoding::told says of query i and key j                                 (T, T), of the first sequence
Tensor position_matrix(const Encoding&, const Positions&);

}  // namespace poslab
