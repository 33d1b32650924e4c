// The views one by one, for `show::views`. A view without content is absent.
#pragma once
#include <functional>
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
  int layer = 0;  // counted from 0
  int train_length = 40, slots = 32;
  uint64_t seed = 0;
  const Positions& positions(const Shown& shown) const { return shown.sample->at_layer(layer); }
};

// A row for each x, with the values of the curves that have a point there.
page::Grid table_of(const std::string& caption, const std::string& x, const std::vector<page::Curve>&,
                    const std::vector<double>& at, const std::function<std::string(double)>& written);

std::optional<View> relative_view(const Subject&);
std::optional<View> bias_view(const Subject&);
std::optional<View> similarity_view(const Subject&);
std::optional<View> frequencies_view(const Subject&);
std::optional<View> rotation_view(const Subject&);
std::optional<View> positions_view(const Subject&);
std::optional<View> coverage_view(const Subject&);

}  // namespace poslab::show
