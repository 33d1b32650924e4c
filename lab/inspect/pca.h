// Figure 5 of Ruoss et al. 2023 (spec C.1): the activations after each layer in the plane of their two principal
// components, which are fitted at the first length; the other lengths go through the same map. A point is one ANSWER
// slot of one string: that is our reading of the paper's 30 x 40 = 1200 and 30 x 150 = 4500 points of Reverse String.
#pragma once
#include <string>
#include <vector>

#include "lab/inspect/npz.h"
#include "lab/inspect/principal.h"
#include "lab/state.h"

namespace poslab {

struct Cloud {
  std::vector<double> at;  // (samples x answer slots, 2), strings one after the other
  // Share of the points beyond the ellipse, its axes in the ratio of the first length's standard deviations, that holds
  // 99 % of the first length's points. So 0.01 for that length itself.
  double outside = 0;
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
};

// On the first `samples` strings and the positions that range evaluation meets at these lengths, without dropout.
// BadInput, before anything is computed, if a length has no room (lab/inspect/lengths.h) or gives one point alone.
Pca pca(const State&, const std::vector<int>& lengths, int samples);

// run,layer,length,points,accuracy,outside,share1,share2: a line for each layer and length; layers count from 1.
extern const char* const pca_csv_header;
std::string pca_csv(const std::string& run, const Pca&);
// RUN/layerN/lengthL (points, 2), RUN/layerN/mean (C), /axes (2, C), /share (C)
std::vector<Array> pca_arrays(const std::string& run, const Pca&);

}  // namespace poslab
