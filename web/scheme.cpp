// A scheme without a model, as in `poslab show` and `poslab explain`: its matrix of positions and its texts. Layers and
// heads count from 0.
#include <cmath>
#include <limits>

#include "encodings/picture.h"
#include "experiment/build.h"
#include "web/calls.h"

namespace poslab::web {
namespace {

const std::vector<Option>& options() {
  static const std::vector<Option> all = {
      {"heads", 8, {1, 256}, "heads of the model in the picture"},
      {"d_model", 64, {1, 4096}, "width of the model"},
      {"causal", false, "keys after the query are masked"},
      {"layer", 0, {0, 99}, "the layer in the picture, from 0"},
      {"head", 0, {0, 255}, "the head in the picture, from 0"},
      Option::text("positions", "sequential", "the sampler that draws positions"),
      Option::text("at", "", "the positions, one for each slot"),
      {"train_length", 40, {1, 100000}, "slots of the longest string in training, the L of 0.5L"},
      {"seed", 0, {0, 999999999}, "seed of positions and parameters"}};
  return all;
}

// An untrained scheme with its positions, in a model of one layer, or of several if layers differ.
struct Drawn {
  Chosen<Scheme> scheme;
  Choices c{"matrix", options()};
  int slots = 0;
  ModelShape shape{};
  Params params;
  std::shared_ptr<const PositionLayers> layers{};
  std::shared_ptr<const PositionSample> sample{};

  explicit Drawn(Request& request) : params(0) {
    const std::string spelled = request.next();
    slots = request.whole("length", 1, 1024);
    for (const auto& [name, text] : request.settings()) c.set(name, text);
    if (c.whole("d_model") % c.whole("heads"))
      bad_input("d_model = {} is not a multiple of heads = {}; choose one that is", c["d_model"], c["heads"]);
    if (c.whole("head") >= c.whole("heads"))
      bad_input("head = {}, counted from 0, but heads = {}; use a smaller head", c["head"], c["heads"]);
    params = Params(uint64_t(c.count("seed")));
    scheme = choose_encoding(spelled, trained_on(c.whole("train_length")));
    const Chosen<Sampler> sampler = sampler_for(
        scheme, choose_sampler(c["positions"], trained_on(c.whole("train_length"))));
    const int layer = c.whole("layer"), pool = pool_of(sampler);
    shape = {.layers = scheme->pages.pictures.layers_differ ? std::max(layer + 1, ModelShape().layers) : layer + 1,
             .heads = c.whole("heads"),
             .d_model = c.whole("d_model"),
             .causal = c.on("causal") || !scheme->causal_only(scheme.choices).empty(),
             .pool = pool == std::numeric_limits<int>::max() ? std::max(2048, slots) : pool,
             .layer = layer};
    if (sampler.choices.has("first")) shape.first = sampler.choices.whole("first");
    layers = std::make_shared<const PositionLayers>(params / "encoding", scheme, shape);
    if (!params.entries().empty()) params.pack();
    const std::vector<double> at = numbers_of(c["at"]);
    if (at.empty()) {
      const Stream drawn = stream(uint64_t(c.count("seed")), Purpose::positions, 0);
      sample = std::make_shared<const PositionSample>(sampler, Resample::per_forward, drawn, 1, slots);
      return;
    }
    if (int(at.size()) != slots) bad_input("{} positions for {} slots; give one for each", at.size(), slots);
    sample = std::make_shared<const PositionSample>(std::vector<Positions>{Positions::of_tokens(1, at)});
  }
};

// (T, T) for the given layer and head; NaN for masked pairs.
std::vector<float> cells(const PositionLayers& layers, const ModelShape& shape, const PositionSample& sample, int layer,
                         int head) {
  const std::vector<Tensor> all = position_matrices(layers, shape, sample);
  const Tensor& m = all[std::min(all.size() - 1, size_t(layer))];                   // (1 or H, T, T)
  const int T = m.dim(1), h = std::min(head, m.dim(0) - 1);
  const std::vector<real> values = m.values();
  std::vector<float> made(values.begin() + ptrdiff_t(h) * T * T, values.begin() + ptrdiff_t(h + 1) * T * T);
  for (int i = 0; i < T; ++i)
    for (int j = 0; j < T; ++j)
      if (float& cell = made[size_t(i) * size_t(T) + size_t(j)]; (shape.causal && j > i) || !std::isfinite(cell))
        cell = std::numeric_limits<float>::quiet_NaN();
  return made;
}

// Words: the scheme, the number of slots, settings of `options`.
Response matrix(Request& request) {
  const Drawn d(request);
  return {Json::object({{"quantity", words(quantity_of(*d.layers, d.shape, d.c.whole("layer")))}}),
          cells(*d.layers, d.shape, *d.sample, d.c.whole("layer"), d.c.whole("head"))};
}

// The same for the scheme of a trained model, at positions of its test. Words: model, slots, layer, head.
Response matrix_of_model(Request& request) {
  const State& s = model(request);
  const int slots = request.whole("length", 1, 1024), layer = request.whole("layer", 0, s.config.whole("layers") - 1);
  const int head = request.whole("head", 0, s.config.whole("heads") - 1);
  const PositionSample sample =
      draw(s.config, test_sampler(s.config), stream(uint64_t(s.config.count("seed")), Purpose::test_positions, 0), 1,
           slots, Ids({1, slots}, std::vector<int>(size_t(slots), 0)));
  const PositionLayers& layers = s.net.encoding();
  return {Json::object({{"quantity", words(quantity_of(layers, transformer_spec(s.config).shape(), layer))}}),
          cells(layers, transformer_spec(s.config).shape(), sample, layer, head)};
}

Json reads_json(Reads what) {
  std::vector<std::string> all;
  for (const auto& [one, word] : {std::pair{Reads::slots, "slots"},
                                  {Reads::positions, "positions"},
                                  {Reads::distances, "distances"},
                                  {Reads::offset_table, "offset_table"}})
    if (has(what, one)) all.push_back(word);
  return Json::list(all);
}

// Words: as for matrix.
Response explain(Request& request) {
  const Drawn d(request);
  const Scheme& s = d.scheme.thing;
  const Laws laws = s.laws(d.shape, d.scheme.choices);
  std::vector<double> f_m;
  if (const auto& of = s.pages.pictures.frequencies) f_m = of(d.shape, d.scheme.choices, d.slots, d.c.whole("head"));
  return {Json::object({{"name", s.name},
                        {"spelled", d.scheme.spelled()},
                        {"summary", s.pages.summary},
                        {"about", s.pages.about},
                        {"source", s.pages.source},
                        {"formula", s.pages.formula},
                        {"doors", s.pages.doors},
                        {"reads", reads_json(reads(d.scheme))},
                        {"shows", s.pages.shows(d.shape, d.scheme.choices)},
                        {"quantity", words(quantity_of(*d.layers, d.shape, d.c.whole("layer")))},
                        {"causal_only", s.causal_only(d.scheme.choices)},
                        {"finite", finite(d.scheme)},
                        {"parameters", double(d.params.entries().empty() ? 0 : d.params.count())},
                        {"frequencies", Json::list(f_m)},
                        {"laws", Json::object({{"shift", laws.shift},
                                               {"toeplitz", laws.toeplitz},
                                               {"two_sided", laws.two_sided},
                                               {"permutes", laws.permutes},
                                               {"softmax", laws.softmax},
                                               {"sums_to_1", laws.sums_to_1},
                                               {"by_length", laws.by_length}})},
                        {"options", options_of(s.options)}})};
}

}  // namespace

std::vector<Call> scheme_calls() {
  return {{"matrix", matrix}, {"matrix_of_model", matrix_of_model}, {"explain", explain}};
}

}  // namespace poslab::web
