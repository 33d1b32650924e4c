// The table of the CUDA kernels: each under the name that it has in core/kernels.def. One that is missing does not
// link.
#include "core/kernels.h"

namespace poslab::cuda {

#define KERNEL(name, result, ...) result name(__VA_ARGS__);
#include "core/kernels.def"
#undef KERNEL

const Kernels& table() {
  static const Kernels t = [] {
    Kernels k;
    k.name = "cuda";
#define KERNEL(name, result, ...) k.name = cuda::name;
#include "core/kernels.def"
#undef KERNEL
    return k;
  }();
  return t;
}

}  // namespace poslab::cuda
