// The tape of this thread as something to look at: which ops it holds, what each of them read and what it made.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace poslab {

struct TapeStep {
  const char* op;
  std::vector<Tensor> inputs;  // none where KeepInputs was not alive when the op was recorded
  std::vector<Tensor> results;
};
std::vector<TapeStep> tape_steps();  // in the order of recording

// While one is alive, the tape of this thread keeps all inputs of its ops. Gradients need fewer of them, so this takes
// memory, and is for pictures only.
class KeepInputs {
 public:
  KeepInputs();
  ~KeepInputs();
  KeepInputs(const KeepInputs&) = delete;
  KeepInputs& operator=(const KeepInputs&) = delete;
};

}  // namespace poslab
