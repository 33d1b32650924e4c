// Adam over the flat buffer, with the gradient's global norm clipped first (spec B.3: Adam, clip 1.0).
#pragma once
#include "core/params.h"
#include "nn/trace.h"

namespace poslab {

struct Adam {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8, clip = 1.0;  // clip: the largest norm; infinity for none
  Tensor m, v;               // (count) first and second moments
  Tensor squares;            // sum of the squares of the latest gradient, one double
  int64_t step = 0;          // updates done

  Adam() = default;  // for a model that is not trained
  Adam(const Params&, double lr);
  // One update from params.grads(), on their device. The caller counts `step`: a recorded step may run this twice.
  // A trace sees the update of a parameter, its value after minus its value before, under "update." and the parameter's
  // name; a replacement by the trace is added to the value before. m and v are the same with and without a trace.
  // Throws BadInput unless 0 <= lr < infinity, 0 <= beta1, beta2 < 1, 1e-12 <= epsilon < infinity, 0 < clip, and m and
  // v are as long as the parameters.
  void update(const Params&, Trace* = nullptr);
  // of the gradient before clipping, from the values of `squares`
  static double norm(const std::vector<real>& squares);
};

}  // namespace poslab
