// Kernels are compiled for several instruction sets. The one in use is the best that this processor supports, or the
// one that the environment variable POSLAB_ISA names.
#pragma once
#include <string>
#include <vector>

namespace poslab {

std::vector<std::string> available_isas();   // on this processor, of baseline, avx2, avx512; slowest first
std::string isa();                           // in use
void use_isa(const std::string& name);  // throws BadInput if this processor does not have it; for tests and benches

// How products of bf16 are computed: "by vdpbf16ps", where the instruction set in use is avx512 and this processor is
// fast at it; or "emulated", by FMAs with the bits of vdpbf16ps (core/cpu/bf16/pairs.h).
std::string bf16_products();

// Scope guard for tests and benches: how pairs of bf16 are multiplied, by vdpbf16ps where this processor has it, by its
// emulation, or, as outside of any guard, by the faster of the two.
enum class PairsBy { fastest, instruction, emulated };
class UsePairs {
 public:
  explicit UsePairs(PairsBy);
  ~UsePairs();

 private:
  PairsBy before_;
};

}  // namespace poslab
