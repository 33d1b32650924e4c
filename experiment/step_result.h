// The result of a training step of any kind.
#pragma once
#include <cstdint>

namespace poslab {

struct StepResult {
  int64_t done = 0;       // number of steps, with this one
  double loss = 0, accuracy = 0, grad_norm = 0;  // loss in nats
  double scored = 0;      // accuracy is a share of this many tokens or answers
  int length = 0;         // length of the step's strings; 0: no common length
};

}  // namespace poslab
