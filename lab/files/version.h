// The version of the program and the machine it runs on, as every result.json records them.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "core/engine.h"
#include "core/rounding.h"

namespace poslab {

std::string version();                // "0.3.0"
// version, commit, scalar, isa, numerics, products, bf16, threads, cuda: pairs of a name and its value
std::vector<std::pair<std::string, std::string>> about();
// "own"; "own, bf16 by vdpbf16ps"; "openblas: OpenBLAS 0.3.21, core Haswell, pthread"
std::string engine_in_full(Engine, Rounding = Rounding::fp32);
std::string openblas_in_full();       // with its file, loaded on demand; or "no", with the reason and the remedy
std::string processor();              // "AMD EPYC (family 25, model 17)"; "" if the system does not tell
std::string today();                  // "2026-01-31", in UTC
std::string version_line();  // "poslab 0.1.0 (commit 0123456789ab)"

}  // namespace poslab
