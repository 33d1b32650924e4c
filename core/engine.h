// Which engine multiplies matrices on a CPU: in linear layers, feed-forward networks and matmul, forward and backward.
// Attention's own products, which are narrow, and weights that are read as they are stored are always ours; so is
// everything on a GPU. The choice is made in core/kernels.cpp, which hands out the engine's table of kernels.
#pragma once
#include <optional>

namespace poslab {

//   own       core/cpu/gemm.h: a few rows at a time, which stay in the cache from one operation to the next
//   openblas  OpenBLAS, where it is installed: core/openblas.h
//   naive     three loops, to be read first, and what tests hold the others against: core/cpu/naive_product.h
enum class Engine { own, openblas, naive };
inline constexpr const char* engine_names[] = {"own", "openblas", "naive"};   // in its order

// Of the process, for new runs and for all that is no run: the one that the environment variable POSLAB_PRODUCTS names.
// Without it own, on x86-64 and ARM. For other processors we have no kernels of our own: openblas, if it is there.
Engine usual_engine();
void set_usual_engine(Engine);   // throws BadInput if it is not there

Engine engine();                 // of the calling thread

// As long as it lives, the calling thread's products on the CPU are by this engine, and afterwards by the one before.
// Throws BadInput if it is not there.
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
