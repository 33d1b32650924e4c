// Switches subnormal numbers (below 1.2e-38) off: on Intel's processors an instruction that reads or produces one takes
// some 150 cycles. A distant key's weight times a small gradient is often subnormal.
#pragma once
#include "core/cpu/simd.h"

namespace poslab::POSLAB_ISA {

// While it lives, subnormal operands and results are zero, on x86.
class [[maybe_unused]] NoSubnormals {
#if defined __SSE2__
 public:
  NoSubnormals() { _mm_setcsr(before_ | 0x8040); }
  ~NoSubnormals() { _mm_setcsr(before_); }
  NoSubnormals(const NoSubnormals&) = delete;

 private:
  unsigned before_ = _mm_getcsr();
#endif
};

}  // namespace poslab::POSLAB_ISA
