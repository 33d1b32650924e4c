// Which of the instruction sets that the kernels were compiled for is in use. The best one that this processor has is
// taken, or the one that the environment variable POSLAB_ISA names.
#pragma once
#include <string>
#include <vector>

namespace poslab {

std::vector<std::string> available_isas();   // here: baseline, avx2, avx512; slowest first
std::string isa();                           // in use
void use_isa(const std::string& name);  // throws BadInput if this processor does not have it; for tests and benches

}  // namespace poslab
