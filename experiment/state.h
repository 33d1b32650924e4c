// All that a training step reads and changes, and so all that a checkpoint holds.
#pragma once
#include "experiment/config.h"
#include "nn/adam.h"
#include "nn/transformer.h"

namespace poslab {

struct State {
  explicit State(
      const Config&);  // step 0: fresh weights from the seed; throws BadInput if the choices do not fit (check)
  Config config;
  Params params;
  Transformer net;
  Adam adam;  // adam.step counts the steps done
};

}  // namespace poslab
