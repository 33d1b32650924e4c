// Observes the tape while it works, for pictures of it.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace poslab {

// While one lives, its functions are called for every op that this thread records, and around the backward functions.
// Of nested ones only the innermost is called.
class TapeWatch {
 public:
  TapeWatch();
  virtual ~TapeWatch();
  TapeWatch(const TapeWatch&) = delete;
  TapeWatch& operator=(const TapeWatch&) = delete;
  // The op has run; the tape has `before` others. Absent inputs are empty tensors.
  virtual void recorded(size_t before, const char* op, const std::vector<Tensor>& results,
                        const std::vector<Tensor>& inputs) = 0;
  // Around the backward function of that op; not for an op that no gradient has reached.
  virtual void before_backward(size_t at) = 0;
  virtual void after_backward(size_t at) = 0;

 private:
  TapeWatch* const outer_;
};

}  // namespace poslab
