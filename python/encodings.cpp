// Schemes, samplers and temperatures without a model: their views, and their spellings.
#include <nanobind/stl/function.h>

#include <algorithm>
#include <cmath>

#include "encodings/compose.h"
#include "encodings/picture.h"
#include "encodings/samplers.h"
#include "encodings/temperature.h"
#include "lab/hub/hf_rope.h"
#include "lab/pages/show/show.h"
#include "lab/runs/spelled_file.h"
#include "python/op.h"

namespace poslab::python {

void add_built(nb::module_&);  // of built.cpp

namespace {

nb::dict as_dict(const show::View& view) {
  nb::list matrices, charts;
  for (const show::Matrix& m : view.matrices) {
    std::vector<double> all;
    for (const auto& head : m.heads) all.insert(all.end(), head.begin(), head.end());
    matrices.append(nb::make_tuple(m.of, array_of({int(m.heads.size()), m.rows, m.cols}, all)));
  }
  for (const page::Chart& chart : view.charts) {
    nb::list curves;
    for (const page::Curve& curve : chart.curves) {
      std::vector<double> points;
      for (const page::Point& p : curve.points) points.insert(points.end(), {p.x, p.y});
      curves.append(nb::make_tuple(curve.name, array_of({int(curve.points.size()), 2}, points)));
    }
    nb::dict c;
    c["title"] = chart.title, c["x"] = chart.x_label, c["y"] = chart.y_label, c["logarithmic"] = chart.log;
    c["curves"] = curves;
    charts.append(c);
  }
  nb::dict d;
  d["name"] = view.name, d["title"] = view.title, d["reading"] = view.reading, d["row"] = view.row, d["col"] = view.col;
  d["one_scale"] = view.one_scale, d["matrices"] = matrices, d["charts"] = charts;
  return d;
}

// The trained length of views without a model.
const RunValues of_views = trained_on(show::Options().train_length);

nb::object draw(const std::string& sampler, int length, int sequences, uint64_t seed, uint64_t step, IdsLike classes) {
  const Chosen<Sampler> s = choose_sampler(with_spelled_file("positions", sampler), of_views);
  if (int64_t(sequences) * length > 1 << 28)
    bad_input("{}: {} sequences of {} slots; give at most 2^28 slots", s->name, sequences, length);
  const Ids of_tokens = ids_of(classes);
  if (of_tokens && !s->reads_classes)
    bad_input("{} reads no classes of tokens, so classes change nothing; leave them out, or draw from abacus, coupled "
              "or restart", s->name);
  if (s->parts) bad_input("{} draws for each of its parts; draw from one of them", s->name);
  Rng rng(stream(seed, Purpose::positions, step));
  const Positions p = sample(s, {sequences, length, of_tokens}, rng);
  if (p.only_offsets()) {
    if (sequences != 1) bad_input("{} gives offsets, which all sequences share; draw for one at a time", s->name);
    const Distances& d = p.distances();
    return array_of({int(d.value.size())}, d.value);
  }
  if (p.channels() > 1) return array_of({p.sequences(), length, p.channels()}, p.ids(s->name));
  return array_of({p.sequences(), length}, p.tokens(s->name));
}

Tensor factors(const std::string& policy, int length, bool causal, int heads, int d_model, uint64_t seed) {
  limit("length", length, 1 << 20), limit_shape(heads, d_model, 1);
  if (d_model % heads)
    bad_input("{}: width {} with {} heads; the width must be a multiple of the heads", policy, d_model, heads);
  const ModelShape shape{.layers = 1, .heads = heads, .d_model = d_model, .causal = causal};
  const Params params(seed);
  const std::vector<Temperature> all = temperature_layers(params, choose_temperature(policy, of_views), shape);
  if (!params.entries().empty()) params.pack();
  if (!all[0].factor) return Tensor::full({1, length, 1}, 1);
  return all[0].factor(all_alike(shape, length, 1), Positions::of_tokens(1, even_steps(0, 1, length)),
                       {.causal = causal});
}

}  // namespace

void add_encodings(nb::module_& m) {
  add_built(m);
  m.def(
      "spelled",
      [](const std::string& kind, const std::string& text) {
        if (kind == "encoding") return choose_encoding(with_spelled_file("encoding", text)).spelled();
        if (kind == "temperature") return choose_temperature(text).spelled();
        const Chosen<Sampler> s = choose_sampler(with_spelled_file("positions", text));
        return s->parts ? s->name : s.spelled();
      },
      "kind"_a, "text"_a,
      "The shortest spelling of an encoding, a sampler or a temperature. ValueError if there is none of that name.");
  m.def("composed", composed_spelling, "text"_a, "Whether it spells parts, such as rope|none.");
  m.def("each_part", each_part, "spelling"_a, "of"_a, "The spelling with of(part) in place of each scheme.");
  m.def(
      "hf_rope",
      [](const std::string& config, int longest, int head_dim) {
        Keys keys = keys_of(config, "config.json");
        return hf_rope(keys, {.longest = longest, .head_dim = head_dim}).encoding();
      },
      "config"_a, "longest"_a, "head_dim"_a, "The encoding that a checkpoint's rope_parameters describe.");
  m.def(
      "hf_rope_parameters",
      [](const std::string& encoding, int head_dim, int longest) -> std::string {
        if (composed_spelling(encoding)) return "";
        const Chosen<Scheme> chosen = choose_encoding(encoding);
        if (!chosen.choices.has("pairing") || chosen.choices["pairing"] != "half") return "";
        try {
          const HfRopeKeys keys = hf_rope_keys(encoding, head_dim);
          return keys.window || keys.longest.value_or(longest) != longest ? "" : keys.rope_parameters.dump();
        } catch (const BadInput&) {
          return "";
        }
      },
      "encoding"_a, "head_dim"_a, "longest"_a,
      "rope_parameters of a checkpoint for an encoding, or \"\" where they cannot express it.");
  m.def(
      "draws_at_random",
      [](const std::string& sampler) { return choose_sampler(with_spelled_file("positions", sampler))->random; },
      "sampler"_a, "Whether the positions may differ from step to step.");
  m.def(
      "has_pool",
      [](const std::string& sampler) {
        const Chosen<Sampler> s = choose_sampler(with_spelled_file("positions", sampler));
        return std::any_of(s->options.begin(), s->options.end(), [](auto& o) { return o.name == "max_position"; });
      },
      "sampler"_a, "Whether its positions come from a pool.");
  m.def(
      "view",
      [](const std::vector<std::string>& encodings, const std::string& view, int length, const std::string& positions,
         int train_length, int heads, int d_model, int layer, bool causal, uint64_t seed, bool force) {
        limit("length", length, 4096), limit("train_length", train_length, 4096), limit("layer", layer, 1024);
        limit_shape(heads, d_model, 1);
        show::Options options{.positions = with_spelled_file("positions", positions),
                          .views = {view},
                          .length = length,
                          .train_length = train_length,
                          .heads = heads,
                          .d_model = d_model,
                          .layer = layer,
                          .causal = causal,
                          .seed = seed,
                          .force = force};
        for (const std::string& e : encodings) options.encodings.push_back(with_spelled_file("encoding", e));
        if (options.encodings.empty()) bad_input("view: no encoding; give one or more");
        return as_dict(show::views(options)[0]);
      },
      "encodings"_a, "view"_a, "length"_a, "positions"_a, "train_length"_a, "heads"_a, "d_model"_a, "layer"_a,
      "causal"_a, "seed"_a, "force"_a, "The drawings of `poslab show`, as numbers.");
  m.def("draw", draw, "sampler"_a, "length"_a, "sequences"_a, "seed"_a, "step"_a, nb::arg("classes").none());
  m.def("factors", factors, "temperature"_a, "length"_a, "causal"_a, "heads"_a, "d_model"_a, "seed"_a);
}

}  // namespace poslab::python
