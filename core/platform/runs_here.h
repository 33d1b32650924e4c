// Whether this processor runs an instruction set of the kernels. The configuration of the build uses
// it too (cmake/best_isa.cpp).
#pragma once
#include <string_view>

namespace poslab {

inline bool runs_here(std::string_view isa) {
#if defined __x86_64__
  if (isa == "avx2")
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2");
  if (isa == "avx512")
    return runs_here("avx2") && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
           __builtin_cpu_supports("avx512cd");
  if (isa == "avx512_bf16") return runs_here("avx512") && __builtin_cpu_supports("avx512bf16");
#endif
  return isa == "baseline";
}

inline bool is_intel() {
#if defined __x86_64__
  return __builtin_cpu_is("intel");
#else
  return false;
#endif
}

}  // namespace poslab
