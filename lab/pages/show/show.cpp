#include "lab/pages/show/show.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <set>

#include "core/error.h"
#include "core/names.h"
#include "lab/files/shell.h"
#include "lab/pages/show/views.h"
#include "lab/runs/room.h"

namespace poslab::show {
namespace {

Subject subject(const Options& options) {
  Subject s;
  s.slots = options.length, s.train_length = options.train_length, s.seed = options.seed, s.layer = options.layer - 1;
  s.shape = {.layers = options.layer,
             .heads = options.heads,
             .d_model = options.d_model,
             .causal = options.causal,
             .layer = options.layer - 1};
  // the width was not chosen by the user
  if (options.d_model == Options().d_model && options.d_model % options.heads)
    s.shape.d_model = options.heads * std::max(2, options.d_model / options.heads / 2 * 2);
  if (s.shape.d_model % options.heads)
    bad_input("a width of {} is no multiple of {} heads; choose one that is", options.d_model, options.heads);
  std::vector<Chosen<Scheme>> schemes;
  for (const std::string& spelled : options.encodings) {
    schemes.push_back(choose_encoding(spelled, trained_on(options.train_length)));
    if (schemes.back()->pages.pictures.layers_differ) s.shape.layers = std::max(options.layer, ModelShape().layers);
  }
  const Chosen<Sampler> sampler = choose_sampler(options.positions, trained_on(options.train_length));
  const int pool = pool_of(sampler);
  const bool endless = pool == std::numeric_limits<int>::max() || sampler.choices.has("at");  // at="...": any numbers
  s.shape.pool = endless ? std::max(2048, options.length) : pool;
  if (sampler.choices.has("first")) s.shape.first = sampler.choices.whole("first");
  for (const Chosen<Scheme>& scheme : schemes) {
    Shown shown{scheme, {}, {}, {}};
    shown.sampler = sampler_for(shown.scheme, sampler);
    const Params params(options.seed);
    shown.layers = std::make_shared<const PositionLayers>(params / "encoding", shown.scheme, s.shape);
    if (!params.entries().empty()) params.pack();
    shown.sample = std::make_shared<const PositionSample>(
        shown.sampler, Resample::per_forward, stream(options.seed, Purpose::positions, 0), 1, options.length);
    s.shown.push_back(std::move(shown));
  }
  return s;
}

std::vector<std::string> rerope_set(int length) {
  const int window = std::max(2, length / 4);
  return {"rope",
          "pi:factor=4",
          fmt::format("rerope:window={},leaky=4", window),
          fmt::format("rerope:window={}", window),
          fmt::format("self_extend:window={},group=4", window),
          fmt::format("t5:buckets=8,max_distance={}", length)};
}

}  // namespace

const std::vector<Set>& all_sets() {
  static const std::vector<Set> list = {
      {"rerope", "RoPE, PI, Leaky ReRoPE and ReRoPE, SelfExtend and T5, with --view relative --causal", rerope_set}};
  return list;
}

const std::vector<ViewName>& all_views() {
  const char* const no_positions =
      "its positions are a table of offsets, are drawn separately for each layer, or are "
      "fewer than --train-length";
  static const std::vector<ViewName> list = {
      {"relative", "the scheme's relative position for each pair", relative_view,
       "it has no single distance for a pair"},
      {"bias", "the term it adds to each pair's logit, or the similarity of their codes", bias_view, ""},
      {"similarity", "the same by distance: position p and p + d", similarity_view, ""},
      {"frequencies", "wavelengths of rotations, and the training length", frequencies_view,
       "it has no fixed frequencies"},
      {"rotation", "the angle of each pair of channels by slots back; on a page as clock hands", rotation_view,
       "it rotates no pairs of channels by fixed frequencies"},
      {"positions", "draws of a sampler, and the gaps between neighbours", positions_view, no_positions},
      {"coverage", "positions, distances and gaps seen in training, by test length", coverage_view, no_positions}};
  return list;
}

// The memory of the views. A trial with two slots shows whether the matrices of all pairs have all heads or one. Every
// view keeps its matrices in double precision. While one is made, its inputs and other layers' matrices exist, too.
Taken views_take(const Options& options) {
  const std::set<std::string> drawn(options.views.begin(), options.views.end());
  const auto is_drawn = [&](const char* view) { return drawn.empty() || drawn.count(view); };
  const int views = (is_drawn("bias") || is_drawn("similarity")) + is_drawn("relative");
  if (!views) return {};
  const Subject s = subject(options);
  const double pairs = double(s.slots) * s.slots;
  double kept = 0, most = 0;
  for (const Shown& shown : s.shown) {
    const PositionSample two(shown.sampler, Resample::per_forward, stream(s.seed, Purpose::positions, 0), 1,
                             std::min(2, s.slots));
    const std::vector<Tensor> layers = position_matrices(*shown.layers, s.shape, two);
    const double heads = layers[0].dim(0);
    kept += views * heads * pairs * double(sizeof(double) + size_t(options.text));
    most = std::max(most, heads * pairs * sizeof(real) * double(layers.size() + 3));
  }
  return {kept + most + (s.shown.size() == 2 ? kept / 2 : 0), 0};  // the difference of two
}

namespace {

std::string lack(const std::string& scheme, const ViewName& view) {
  return fmt::format("{} has no view \"{}\": {}", scheme, view.name, view.lack);
}

// If there are several schemes: the ones that the view leaves out.
std::vector<std::string> lacks(const ViewName& view, const Subject& s) {
  std::vector<std::string> all;
  if (s.shown.size() < 2 || view.lack.empty()) return all;
  for (const Shown& shown : s.shown) {
    Subject alone = s;
    alone.shown = {shown};
    if (!view.make(alone)) all.push_back(lack(shown.scheme.spelled(), view));
  }
  return all;
}

}  // namespace

std::vector<View> views(const Options& options) {
  std::vector<std::string> names;
  for (const ViewName& v : all_views()) names.push_back(v.name);
  for (const std::string& wanted : options.views)
    if (std::find(names.begin(), names.end(), wanted) == names.end()) raise<BadInput>(unknown("view", wanted, names));
  const Subject s = subject(options);
  begin({.what = "drawing",
         .takes = views_take(options),
         .with = fmt::format("--length {}, {}", options.length, counted(options.encodings.size(), "encoding"))},
        options.force);
  std::vector<View> all;
  for (const ViewName& one : all_views()) {
    const bool wanted = std::find(options.views.begin(), options.views.end(), one.name) != options.views.end();
    if (!options.views.empty() && !wanted) continue;
    if (std::optional<View> view = one.make(s)) {
      view->lacks = lacks(one, s);
      for (const std::string& line : view->lacks) view->reading += fmt::format(" {}.", line);
      all.push_back(std::move(*view));
    } else if (wanted) {
      bad_input("{}; leave --view out to see the views that it has", lack(options.encodings[0], one));
    }
  }
  return all;
}

}  // namespace poslab::show
