// The biases of Attention Bias Calibration, as the text of the spelling calibrated:of=TEXT.
//
//   1.1 -3:0.4 0:0.1 1.2 -1:0.6 2.1 2.2     layer 1, head 1 has 0.4 for the key 3 slots back and 0.1 for its own, ...
//   all -1:0 0:0                            all heads of all layers
//
// A head sees no keys at distances that its list lacks; a head with an empty list has no bias, and sees all keys.
#pragma once
#include <map>
#include <string>
#include <vector>

namespace poslab {

using SlotBiases = std::map<int, double>;          // by key slot - query slot

struct Calibration {
  int layers = 0, heads = 0;                       // 0, 0: one list for all heads of all layers
  std::vector<SlotBiases> of_heads;                // the heads of layer 1, then of layer 2, ...
  const SlotBiases& of(int layer, int head) const; // both from 0
};

// Throws BadInput, naming the word, unless each head of each layer is listed once.
Calibration read_calibration(const std::string& text);
std::string text_of(const Calibration&, const char* between_heads = " ");   // numbers with six digits

}  // namespace poslab
