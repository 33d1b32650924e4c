// Figure 5 of Ruoss et al. 2023 (spec C.1): the activations after each layer in the plane of their two principal
// components, which are fitted at the first length; the same map projects the other lengths. A point is one ANSWER slot
// of one string: that is our reading of the paper's 30 x 40 = 1200 and 30 x 150 = 4500 points of Reverse String.
#pragma once
#include <vector>

#include "experiment/principal.h"
#include "experiment/state.h"

namespace poslab {

struct Cloud {
  std::vector<double> at;  // (samples x answer slots, 2), strings one after the other
  // Share of the points outside of the first length's cloud (share_outside). For the first length itself, the share of
  // the same number of other strings, as a measure of chance.
  double outside;
};
struct PcaLayer {
  Principal map;
  std::vector<Cloud> clouds;  // one for each length
};
struct Pca {
  std::vector<int> lengths;      // of the input
  std::vector<double> accuracy;  // at each length, of these strings
  int samples;                   // strings at each length
  std::vector<PcaLayer> layers;
  int last = 0;  // for a text: how many of its last tokens serve as answer slots
};

// The output of each layer at the selected slots, (points, C) each, strings one after the other.
struct Activations {
  double accuracy = 0;
  std::vector<std::vector<double>> layers;
};
// all: the points of each length. others: the points of as many other strings of the first length, which show the
// effect of chance alone.
Pca planes(const std::vector<int>& lengths, int samples, const std::vector<Activations>& all, const Activations& others,
           int C);

// On the first `samples` strings and positions of range evaluation at these lengths, without dropout. Throws BadInput,
// before anything is computed, if a length does not fit (experiment/lengths.h), gives a single point, or if there are
// more than 8000 samples.
Pca pca(const State&, const std::vector<int>& lengths, int samples);

}  // namespace poslab
