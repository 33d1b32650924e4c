// Kernels are compiled for several instruction sets. The one in use is the best that this processor supports, or the
// one that the environment variable POSLAB_ISA names.
#pragma once
#include <string>
#include <vector>

namespace poslab {

std::vector<std::string> available_isas();   // of baseline, avx2 and avx512, all that run here, slowest first
std::string isa();                           // in use
void use_isa(const std::string& name);  // throws BadInput if this processor does not have it; for tests and benches

// How products of bf16 are computed: "by vdpbf16ps" if the instruction set in use is avx512 and this processor is fast
// at that instruction; else "emulated" by FMAs that give the same bits (core/cpu/bf16/pairs.h).
std::string bf16_products();

// Scope guard for tests and benches. It sets how pairs of bf16 are multiplied: by vdpbf16ps if this processor has it,
// by emulation, or, as without a guard, by the faster of the two.
enum class PairsBy { fastest, instruction, emulated };
class UsePairs {
 public:
  explicit UsePairs(PairsBy);
  ~UsePairs();

 private:
  PairsBy before_;
};

}  // namespace poslab
