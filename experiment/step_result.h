// The result of a training step of any kind.
#pragma once
#include <cstdint>

namespace poslab {

struct StepResult {
  int64_t done;                      // number of steps, with this one
  double loss, accuracy, grad_norm;  // loss in nats
  double scored;                     // accuracy is a share of this many tokens or answers
  int length = 0;                    // length of the step's strings; 0: no common length
};

}  // namespace poslab
