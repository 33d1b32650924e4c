// Figure 6 of Ruoss et al. 2023 (spec C.1): the maximum over the heads of each layer's attention, on one test string at
// each length, at full resolution.
#pragma once
#include <string>
#include <vector>

#include "experiment/state.h"
#include "tasks/batch.h"

namespace poslab {

struct AttentionMaps {
  int length;                              // of the input
  int slots, outputs;                      // T, and the number of last slots that are answers: 0 for a text
  std::vector<std::vector<float>> layers;  // (T, T) each: row = query slot, column = key slot
  std::vector<std::vector<float>> heads;   // (H, T, T) each; `layers` has their maxima
  std::vector<std::string> symbols = {};   // for a text: its tokens in readable form
  void add(const Tensor& weights);         // for each layer in turn, (H, T, T) or (1, H, T, T)
};

// One layer's attention of one string, (H, T, T): all slots are queries. Without dropout.
Tensor attention_of(const State&, const Batch&, const PositionSample&, int layer);

// For the first string and positions of range evaluation at each length, without dropout. Throws as pca() does.
std::vector<AttentionMaps> attention_maps(const State&, const std::vector<int>& lengths);

}  // namespace poslab
