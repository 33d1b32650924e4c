// The state of training between two steps, which is also that of a checkpoint.
#pragma once
#include "core/backend.h"
#include "experiment/config.h"
#include "nn/adam.h"
#include "nn/transformer.h"

namespace poslab {

// The format of its checkpoints. It changes when older ones become unreadable.
inline constexpr const char* state_format = "poslab checkpoint 1";

struct State {
  // Step 0: fresh weights from the seed. Throws BadInput if the choices do not fit (check).
  explicit State(const RunSpec&);
  // The model for tests: `net` with the loops and the temperature of the test. Throws BadInput for a temperature that
  // is aligned to other weights.
  Transformer test_net() const;
  RunSpec config;
  Params params;
  Transformer net;
  Adam adam;  // adam.step counts the steps done
};

}  // namespace poslab
