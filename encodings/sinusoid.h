// The sine and cosine of any real position: sincos adds them, the relative scheme projects them.
#pragma once
#include <vector>

#include "core/tensor.h"

namespace poslab {

//   y_p = [ sin(p f_0), ..., sin(p f_{C/2-1}), cos(p f_0), ..., cos(p f_{C/2-1}) ],  f_m = 10000^(-2m/C)      (N, C)
// Two halves, as in the released code, not interleaved as in Vaswani et al. 2017. Computed in double, then rounded.
// Throws BadInput for an odd C.
Tensor sinusoid(const std::vector<double>& positions, int channels);
Tensor sinusoid(const std::vector<double>& positions, int channels, Device);   // on the device

// Throws BadInput with the scheme's name unless d_model is even.
void check_halves(const char* scheme, int d_model);

// f_m = base^(-2m/channels), m = 0 .. channels/2 - 1: also the angles of RoPE, with channels = D
std::vector<double> frequencies(int channels, double base = 10000);

}  // namespace poslab
