// OpenBLAS's matrix product. The library is not linked but loaded when it is first asked for, so that a program that
// does not use it starts as fast, and runs where there is none. Its own threads are off: ours call it, each for a piece
// of the work. core/platform/openblas_none.cpp replaces it where CMake has POSLAB_OPENBLAS=OFF, and in WebAssembly.
#pragma once
#include <string>

#include "core/real.h"

namespace poslab {

struct OpenBlas {
  // cblas_sgemm, or cblas_dgemm where real is double: c = alpha a b + beta c
  void (*gemm)(int order, int a_form, int b_form, int m, int n, int k, real alpha, const real* a, int a_line,
               const real* b, int b_line, real beta, real* c, int c_line);
  std::string file, name;          // "libopenblas.so.0", "OpenBLAS 0.3.21, core Haswell, pthread"
};

// Throws BadInput, naming the remedy, unless an OpenBLAS is installed that several threads may call at the same time.
// The build without threads is refused: it hands one buffer to two callers, and rarely and silently gives wrong
// numbers. So is the build with OpenMP: its threads are switched off only for the thread that says so, and bits would
// depend on the number of callers.
const OpenBlas& openblas();
bool has_openblas();

}  // namespace poslab
