// The GPU with the naive kernels in place of the fast ones that they explain; all others are the fast ones.
#include "cuda/backend.h"

namespace poslab::cuda {
namespace naive {

#define KERNEL(name, result, arguments, ...) result name arguments;
#include "core/kernels.def"
#undef KERNEL

namespace {

const Kernels& table() {
  static const Kernels t = [] {
    Kernels k = as_backend().kernels();
    k.name = "cuda, naive";
    k.linear = linear, k.linear_backward = linear_backward;
    k.attention = attention, k.attention_backward = attention_backward;
    k.norm = norm, k.norm_backward = norm_backward;
    k.encoder_block_fits = nullptr, k.encoder_block = nullptr, k.encoder_block_backward = nullptr;   // op by op
    k.encoder_tail_fits = nullptr, k.encoder_tail = nullptr, k.encoder_tail_backward = nullptr;
    return k;
  }();
  return t;
}

}  // namespace
}  // namespace naive

const Backend& as_naive_backend() {
  static const Backend b = [] {
    Backend naive = as_backend();
    naive.kernels = naive::table;
    return naive;
  }();
  return b;
}

}  // namespace poslab::cuda
