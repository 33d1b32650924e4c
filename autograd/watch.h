// What the tape does, as it does it: for pictures of it. Nothing else needs to know.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace poslab {

// While one lives it is told of every op that this thread records, and of their backward functions. Within another one
// it alone is told.
class TapeWatch {
 public:
  TapeWatch();
  virtual ~TapeWatch();
  TapeWatch(const TapeWatch&) = delete;
  TapeWatch& operator=(const TapeWatch&) = delete;
  // The op has run; the tape has `before` others. Absent inputs are empty tensors.
  virtual void recorded(size_t before, const char* op, const std::vector<Tensor>& results,
                        const std::vector<Tensor>& inputs) = 0;
  // Around the backward function of that op; one that no gradient has reached has none.
  virtual void before_backward(size_t at) = 0;
  virtual void after_backward(size_t at) = 0;

 private:
  TapeWatch* const outer_;
};

}  // namespace poslab
