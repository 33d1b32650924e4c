// Attention Bias Calibration (Duan, Shi, Xu 2023): the mean attention of a trained run's heads by the distance of
// slots. The scheme `calibrated` trains another model with the result as its bias.
#pragma once
#include <vector>

#include "encodings/calibrated.h"
#include "experiment/footprint.h"
#include "experiment/state.h"

namespace poslab {

struct Calibrating {
  int length = 0;              // length of the strings; 0: the longest trained length
  int samples = 64;            // strings
  double deviations = 0.87;    // the released code's value for self-attention
  bool sum = false;            // sum along a diagonal, as in the released code, in place of the mean
  bool last_layer = false;     // all layers get the last one's biases, as in the released code
};

// The kept part of a head's attention a, (T, T), averaged over strings. With m and s the mean and standard deviation
// over the diagonals (those with d <= 0 if `causal`) that are not 0,
//
//   a(d) = mean or sum of a_ij over j - i = d,   kept if a(d) >= m + deviations s
SlotBiases kept(const std::vector<double>& a, int T, bool causal, const Calibrating&);

// For each head of each layer, on the strings and positions of range evaluation, without dropout. Throws BadInput as
// check_lengths() does (experiment/lengths.h).
Taken calibration_takes(const RunSpec&, const Calibrating&);
Calibration calibrate(const State&, const Calibrating&);

}  // namespace poslab
