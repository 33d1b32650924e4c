// The engine that multiplies matrices in linear layers, feed-forward networks and matmul, forward and backward. Our own
// kernels always compute attention's products and those with stored weights (core/stored_matrix.h). For a CPU
// core/kernels.cpp hands out the engine's table of kernels; a GPU (cuda/product.cu) has our own kernels and cuBLAS.
#pragma once
#include <optional>

namespace poslab {

//   own       core/cpu/gemm.h: a few rows at a time, which stay in the cache from one operation to the next
//   openblas  OpenBLAS, where it is installed: core/platform/openblas.h
//   naive     three loops, to read first; the reference in tests: core/cpu/naive_product.h
//   cublas    cuBLAS, only on a GPU, where it is installed: cuda/cublas.cpp
enum class Engine { own, openblas, naive, cublas };
inline constexpr const char* engine_names[] = {"own", "openblas", "naive", "cublas"};   // in the order of Engine

// The engine of the process, for new runs and for everything outside runs. The environment variable POSLAB_PRODUCTS
// names it; without that it is `own` on x86-64 and ARM. Other processors have no tuned kernels here: they use
// openblas, if it is installed.
Engine default_engine();
void set_default_engine(Engine);   // throws BadInput if it is not installed

Engine engine();                 // the calling thread's engine

// Scope guard: while it lives, this engine computes the calling thread's products on the CPU. The destructor restores
// the previous engine. Throws BadInput if the engine is not installed.
class UseEngine {
 public:
  explicit UseEngine(Engine);
  ~UseEngine();
  UseEngine(const UseEngine&) = delete;
  UseEngine& operator=(const UseEngine&) = delete;

 private:
  std::optional<Engine> before_;
};

}  // namespace poslab
