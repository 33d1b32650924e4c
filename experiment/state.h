// All that a training step reads and changes, and so all that a checkpoint holds.
#pragma once
#include "core/backend.h"
#include "experiment/config.h"
#include "nn/adam.h"
#include "nn/transformer.h"

namespace poslab {

// Of a checkpoint that holds it. It changes when an older one can no longer be read.
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
