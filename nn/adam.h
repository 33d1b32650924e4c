// Adam over the flat buffer, with the gradient's global norm clipped first (spec B.3: Adam, clip 1.0). With a weight
// decay it is AdamW (Loshchilov & Hutter 2019), in which only matrices decay: norms' gains and biases keep their size,
// as in the released code of GPT-2's followers.
#pragma once
#include "core/params.h"
#include "nn/trace.h"

namespace poslab {

struct Adam {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999;
  double epsilon = 1e-8, clip = 1.0;  // clip: the largest norm; infinity for none
  double decay = 0;          // a step first multiplies each matrix by 1 - lr decay
  Tensor m, v;               // (count) each: first and second moments
  Tensor squares;            // the latest gradient's sum of squares: a double in the memory of reals
  int64_t step = 0;          // number of updates so far; the caller counts

  Adam() = default;  // for a model that is not trained
  Adam(const Params&, double lr);
  // One update from Params::grads(), on their device. Does not change `step`: Backend::step() may run this twice.
  // A trace sees the update of a parameter, its value after minus its value before, under "update." and the parameter's
  // name; a replacement by the trace is added to the value before. m and v are the same with and without a trace.
  // Throws BadInput unless 0 <= lr < infinity, 0 <= beta1, beta2 < 1, 1e-12 <= epsilon < infinity, 0 < clip,
  // 0 <= lr decay < 1, and m and v are as long as the parameters.
  void update(const Params&, Trace* = nullptr);
  // The norm of the gradient before clipping, from the values of `squares`.
  static double norm(const std::vector<real>& squares);
};

}  // namespace poslab
