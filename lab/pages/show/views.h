// The views one by one, for `show::views`. An empty view is absent.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "encodings/encoding.h"
#include "lab/pages/show/show.h"

namespace poslab::show {

// A scheme with as many layers as are shown, and positions drawn for it.
struct Shown {
  Chosen<Scheme> scheme;
  Chosen<Sampler> sampler;
  std::shared_ptr<const PositionLayers> layers;
  std::shared_ptr<const PositionSample> sample;
};

struct Subject {
  std::vector<Shown> shown;
  ModelShape shape;
  int layer = 0;                             // from 0 on
  int train_length = 40, slots = 32;
  uint64_t seed = 0;
  const Positions& positions(const Shown& shown) const { return shown.sample->at_layer(layer); }
};

// The memory of matrices of all pairs, while they are made and in a finished view.
Taken matrices_take(const Subject&, size_t views, int text);

std::optional<View> relative_view(const Subject&);
std::optional<View> bias_view(const Subject&);
std::optional<View> similarity_view(const Subject&);
std::optional<View> frequencies_view(const Subject&);
std::optional<View> rotation_view(const Subject&);
std::optional<View> positions_view(const Subject&);
std::optional<View> coverage_view(const Subject&);

}  // namespace poslab::show
