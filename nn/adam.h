// Adam over the flat buffer, with the gradient's global norm clipped first (spec B.3: Adam, clip 1.0).
#pragma once
#include "core/params.h"

namespace poslab {

struct Adam {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, epsilon = 1e-8, clip = 1.0;
  Tensor m, v;               // (count) first and second moments
  int64_t step = 0;          // updates done

  Adam(const Params&, double lr);
  double update(const Params&);   // one update from params.grads(); returns the gradient's norm before clipping
};

}  // namespace poslab
