// The part of a tensor that its handles share. Only the .cpp files of core/ and autograd/pass.h include it.
#pragma once
#include <atomic>

#include "core/memory.h"
#include "core/tensor.h"

namespace poslab {

struct Tensor::Storage {
  real *value = nullptr, *grad = nullptr;   // in own_value and own_grad, or in a flat buffer of parameters
  Block own_value, own_grad;
  bool requires_grad = false, grad_empty = true;   // grad_empty: `grad` counts as zero, whatever its memory holds
  std::atomic<bool> viewed = false;  // another storage points into this one, and keeps it alive
  uint64_t made_in = 0;                     // the pass whose op made it (autograd/pass.h); 0: a leaf
  Device device = Device::cpu;
  std::shared_ptr<const void> keep;         // owns the memory where own_value does not
};

}  // namespace poslab
