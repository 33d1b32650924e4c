// Which of the instruction sets that the kernels were compiled for is in use. The best one that this processor has is
// taken, or the one that the environment variable POSLAB_ISA names.
#pragma once
#include <string>
#include <vector>

namespace poslab {

std::vector<std::string> available_isas();   // here: baseline, avx2, avx512; slowest first
std::string isa();                           // in use
void use_isa(const std::string& name);  // throws BadInput if this processor does not have it; for tests and benches

// How products of bf16 are computed: "by tdpbf16ps" or "by bfmmla", tiles of AMX or ARM (core/tiles.h); "by
// vdpbf16ps", where the instruction set in use is avx512 and this processor has AVX512-BF16 as well; or "emulated",
// with the bits of vdpbf16ps (core/cpu/pairs.h).
std::string bf16_products();
void emulate_bf16(bool);  // even where it has the instruction; for tests and benches

}  // namespace poslab
