// The part of a tensor that its handles share. Only core/tensor.cpp, core/params.cpp and autograd/pass.h look inside.
#pragma once
#include <atomic>

#include "core/memory.h"
#include "core/tensor.h"

namespace poslab {

struct Tensor::Storage {
  real *value = nullptr, *grad = nullptr;   // into own blocks, or into a flat buffer of parameters
  Block own_value, own_grad;
  bool requires_grad = false, grad_empty = true;
  std::atomic<bool> viewed = false;  // another storage points into this one, and keeps it alive
  uint64_t made_in = 0;                     // a pass (autograd/pass.h); 0: a leaf
  Device device = Device::cpu;
  std::shared_ptr<const void> keep;         // owns the memory, if this does not
};

}  // namespace poslab
