// OpenBLAS's matrix product. The library is not linked but loaded on first use, so that a program that does not use it
// starts no slower, and runs where it is not installed. Its own threads are off: ours call it, each for a piece of the
// work. In WebAssembly, and with POSLAB_OPENBLAS=OFF in CMake, core/platform/openblas_none.cpp takes its place.
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
// The build without threads is refused: it may hand one buffer to two callers, and then silently gives wrong numbers.
// The build with OpenMP is refused too: its threads can only be switched off for the calling thread, so bits would
// depend on the number of callers.
const OpenBlas& openblas();
bool has_openblas();

}  // namespace poslab
