// A sum under construction: the first writer assigns, later writers add. So gradients need not be set to zero first.
#pragma once
#include "core/fields.h"
#include "core/real.h"

namespace poslab {

struct Accumulator {
  real* at = nullptr;   // null: this gradient is not needed
  bool empty = false;   // true: nothing is written yet, and the kernel assigns every element; false: it adds
  FIELDS(Accumulator, at, empty)
  explicit operator bool() const { return at != nullptr; }
};

}  // namespace poslab
