// Which of the instruction sets that the kernels were compiled for is in use. The best one that this processor has is
// taken, or the one that the environment variable POSLAB_ISA names.
#pragma once
#include <string>
#include <vector>

namespace poslab {

std::vector<std::string> available_isas();   // here: baseline, avx2, avx512; slowest first
std::string isa();                           // in use
void use_isa(const std::string& name);  // throws BadInput if this processor does not have it; for tests and benches

// How products of bf16 are computed: "by vdpbf16ps", where the instruction set in use is avx512 and this processor is
// fast at it; or "emulated", by FMAs with the bits of vdpbf16ps (core/cpu/bf16/pairs.h).
std::string bf16_products();

// How pairs of bf16 are multiplied, for tests and benches, while it lives: by the instruction, where this processor
// has it, or emulated; else the faster of the two.
enum class PairsBy { fastest, instruction, emulated };
class UsePairs {
 public:
  explicit UsePairs(PairsBy);
  ~UsePairs();

 private:
  PairsBy before_;
};

}  // namespace poslab
