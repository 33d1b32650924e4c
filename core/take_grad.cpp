// Moves a gradient out with its memory, for callers with a graph of their own (autograd/tape_piece.h).
#include <utility>

#include "core/tensor.h"
#include "core/tensor_storage.h"

namespace poslab {

Tensor Tensor::take_grad() const {
  Storage& s = *storage_;
  if (!has_grad() || !s.own_grad.get()) {
    const Tensor copy = grad();
    clear_grad();
    return copy;
  }
  Tensor taken = view(std::exchange(s.grad, nullptr));
  taken.storage_->keep = nullptr, taken.storage_->own_value = std::exchange(s.own_grad, {});
  s.grad_empty = true;
  return taken;
}

}  // namespace poslab
