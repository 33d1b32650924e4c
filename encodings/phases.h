// Rotations whose angles have a gradient: learned frequencies, or phases that come from the content of the tokens.
//
//   s_ij = (R_i q_i) . (R_j k_j) / sqrt(D),   R_t rotates channels m and m + D/2 of head h by the angle a_thm
#pragma once
#include <string>
#include <vector>

#include "encodings/encoding.h"

namespace poslab {

class Phased : public Encoding {
 public:
  Scores scores(const Heads&, const Positions&) const override;

 protected:
  virtual Tensor angles(const Heads&, const Positions&) const = 0;   // the keys' angles: (1 or B, Tk, 1 or H, D/2)
};

// x, (B, T, H, D), rotated by angles (1 or B, T, 1 or H, D/2)
Tensor rotated(const Tensor& x, const Tensor& cosine, const Tensor& sine);
// p f s for each position p, minus the whole turns of p f: (1 or B, T, 1 or H, D/2). f: frequencies; s: learned
// factors, (D/2) or (H, D/2). With s = 1 the angle is as exact as in RoPE. `scheme` is for errors.
Tensor stretched_angles(const Positions&, const std::string& scheme, const std::vector<double>& f, const Tensor& s);

Tensor last_slots(const Tensor& x, int queries);   // (B, T, ...) -> (B, queries, ...)
Tensor delay(const Tensor& x, int by);             // x_{t - by}, by >= 1, and 0 before the first: (B, T, ...)
// y_t = sum_n w_n x_{t - n}, for each channel by itself                                 x: (B, T, N)   w: (size, N)
Tensor causal_conv(const Tensor& x, const Tensor& w);
Tensor unit(const Tensor& x);                      // x / sqrt(|x|^2 + 1e-6), over the last axis
// Numbers that do not depend on the positions, on the device, kept under a unique `name` for all layers of a pass.
Tensor constant(const Positions&, const std::string& name, Device, const Shape&, const std::vector<double>&);

}  // namespace poslab
