// The table of the CUDA kernels: each under the name that it has in core/kernels.def. One that is missing does not
// link.
#include "core/kernels.h"

namespace poslab::cuda {

#define KERNEL(name, result, ...) result name(__VA_ARGS__);
#include "core/kernels.def"
#undef KERNEL
bool encoder_block_fits(const BlockArgs&);
void encoder_block(real* y, const BlockKept&, const BlockArgs&);
void encoder_block_backward(const BlockGrads&, const real* dy, const BlockKept&, const BlockArgs&);

const Kernels& table() {
  static const Kernels t = [] {
    Kernels k;
    k.name = "cuda";
#define KERNEL(name, result, ...) k.name = cuda::name;
#include "core/kernels.def"
#undef KERNEL
    k.encoder_block_fits = cuda::encoder_block_fits;
    k.encoder_block = cuda::encoder_block, k.encoder_block_backward = cuda::encoder_block_backward;
    return k;
  }();
  return t;
}

}  // namespace poslab::cuda
