// Schemes, samplers and temperatures without a model: what they make of positions, queries and keys.
#include <cmath>

#include "encodings/samplers.h"
#include "encodings/temperature.h"
#include "lab/pages/show/show.h"
#include "lab/runs/spelled_file.h"
#include "python/op.h"

namespace poslab::python {
namespace {

void limit(const char* name, int value, int most) {
  if (value < 1 || value > most) bad_input("{} is {}; give a number from 1 to {}", name, value, most);
}

void limit_shape(int heads, int d_model, int layers) {
  limit("heads", heads, 1024), limit("d_model", d_model, 65536), limit("layers", layers, 1024);
}

// A scheme in a model of some shape, with parameters of its own and positions drawn for it.
class Built {
 public:
  Built(const std::string& encoding, const std::string& positions, int layers, int heads, int d_model, bool causal,
        int pool, int train_length, uint64_t seed)
      : params_(seed) {
    limit_shape(heads, d_model, layers), limit("pool", pool, 1 << 20), limit("train_length", train_length, 1 << 24);
    if (d_model % heads)
      bad_input("{}: width {} with {} heads; the width must be a multiple of the heads", encoding, d_model, heads);
    scheme_ = choose_encoding(as_typed("encoding", encoding), trained_on(train_length));
    sampler_ = sampler_for(scheme_, choose_sampler(with_spelled_file("positions", positions)));
    shape_ = {.layers = layers, .heads = heads, .d_model = d_model, .causal = causal, .pool = pool};
    if (const int most = pool_of(sampler_); sampler_.choices.has("max_position")) shape_.pool = most;
    if (sampler_.choices.has("first")) shape_.first = sampler_.choices.whole("first");
    layers_ = std::make_shared<const PositionLayers>(params_ / "encoding", scheme_, shape_);
    if (!params_.entries().empty()) params_.pack();
    seed_ = seed;
  }
  std::string spelled() const { return scheme_.spelled(); }
  nb::dict parameters() const {
    nb::dict all;
    for (const Params::Entry& e : params_.entries()) all[e.name.c_str()] = nb::cast(e.tensor);
    return all;
  }
  Tensor embed(const Tensor& x, int step) const {
    if (!layers_->embed) bad_input("{} adds nothing to the embedding; ask for its logits", spelled());
    if (x.dims() != 3 || x.dim(2) != shape_.d_model)
      bad_input("{}: x is {}; it must be (batch, time, {})", spelled(), to_string(x.shape()), shape_.d_model);
    return layers_->embed(x, drawn(x.dim(1), step).at_embedding());
  }
  Tensor logits(const Tensor& q, const Tensor& k, const Tensor& x, int layer, int step) const {
    const Heads in = heads(q, k, x, layer);
    return at(layer).logits(in, drawn(k.dim(1), step).at_layer(layer), span(in));
  }
  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Tensor& x, int layer, int step) const {
    const Heads in = heads(q, k, x, layer);
    if (v.dims() != 4 || v.dim(0) != k.dim(0) || v.dim(1) != k.dim(1) || v.dim(2) != shape_.heads)
      bad_input("{}: v is {} with k {}; it must be (batch, time, heads, any)", spelled(), to_string(v.shape()),
                to_string(k.shape()));
    return at(layer).attend(in, v, drawn(k.dim(1), step).at_layer(layer), span(in));
  }

 private:
  const Encoding& at(int layer) const { return *layers_->layers[size_t(layer)]; }
  Span span(const Heads& in) const { return {shape_.causal, in.k.dim(1) - in.q.dim(1)}; }
  PositionSample drawn(int slots, int step) const {
    return {sampler_, Resample::per_forward, stream(seed_, Purpose::positions, uint64_t(step)), 1, slots};
  }
  // Queries and keys that fit; the states that they come from, if nobody says, are q and k themselves.
  Heads heads(const Tensor& q, const Tensor& k, const Tensor& x, int layer) const {
    if (layer < 0 || layer >= shape_.layers) bad_input("layer {} of {}; they are counted from 0", layer, shape_.layers);
    const Shape last = {shape_.heads, shape_.head_dim()};
    const auto fits = [&](const Tensor& t) { return t.dims() == 4 && Shape{t.dim(2), t.dim(3)} == last; };
    if (!fits(q) || q.shape() != k.shape())
      bad_input("{}: q is {} and k {}; both must be (batch, time, {}, {})", spelled(), to_string(q.shape()),
                to_string(k.shape()), last[0], last[1]);
    const Shape states = {q.dim(0), q.dim(1), shape_.d_model};
    if (x && x.shape() != states)
      bad_input("{}: x is {}; it must be {}", spelled(), to_string(x.shape()), to_string(states));
    return {q, k, x ? x : q.reshape(states), x ? x : k.reshape(states)};
  }

  Chosen<Scheme> scheme_;
  Chosen<Sampler> sampler_;
  ModelShape shape_;
  Params params_;
  std::shared_ptr<const PositionLayers> layers_;
  uint64_t seed_ = 0;
};

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

nb::object draw(const std::string& sampler, int length, int sequences, uint64_t seed, uint64_t step, IdsLike classes) {
  const Chosen<Sampler> s = choose_sampler(with_spelled_file("positions", sampler));
  if (int64_t(sequences) * length > 1 << 28)
    bad_input("{}: {} sequences of {} slots; give at most 2^28 slots", s->name, sequences, length);
  if (s->parts) bad_input("{} draws for each layer its own; draw from its parts", s->name);
  Rng rng(stream(seed, Purpose::positions, step));
  const Positions p = sample(s, {sequences, length, ids_of(classes)}, rng);
  if (p.only_offsets()) {
    if (sequences != 1) bad_input("{} gives offsets, which sequences share; draw for 1 at a time", s->name);
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
  const std::vector<Temperature> all = temperature_layers(params, choose_temperature(policy), shape);
  if (!params.entries().empty()) params.pack();
  if (!all[0].factor) return Tensor::full({1, length, 1}, 1);
  return all[0].factor(all_alike(shape, length, 1), Positions::of_tokens(1, even_steps(0, 1, length)),
                       {.causal = causal});
}

}  // namespace

void add_encodings(nb::module_& m) {
  nb::class_<Built>(m, "Built", "An encoding in a model of some shape, with parameters of its own.")
      .def(nb::init<const std::string&, const std::string&, int, int, int, bool, int, int, uint64_t>(), "encoding"_a,
           "positions"_a = "sequential", "layers"_a = 1, "heads"_a = 8, "d_model"_a = 64, "causal"_a = false,
           "pool"_a = 2048, "train_length"_a = 40, "seed"_a = 0)
      .def_prop_ro("parameters", &Built::parameters, "what it learns: names and tensors")
      .def(
          "embed", [](const Built& b, TensorLike x, int step) { return b.embed(tensor_of(x), step); }, "x"_a,
          "step"_a = 0, "x (B, T, C) with positions added, for an encoding that does so.")
      .def(
          "logits",
          [](const Built& b, TensorLike q, TensorLike k, nb::object x, int layer, int step) {
            return b.logits(tensor_of(q), tensor_of(k), tensor_or_absent(x), layer, step);
          },
          "q"_a, "k"_a, "x"_a = nb::none(), "layer"_a = 0, "step"_a = 0,
          "(B, H, T, T) of queries and keys (B, T, H, D), -infinity where masked. x (B, T, C): the states that they\n"
          "are made from, for encodings that read them; without it, q and k themselves.")
      .def(
          "attend",
          [](const Built& b, TensorLike q, TensorLike k, TensorLike v, nb::object x, int layer, int step) {
            return b.attend(tensor_of(q), tensor_of(k), tensor_of(v), tensor_or_absent(x), layer, step);
          },
          "q"_a, "k"_a, "v"_a, "x"_a = nb::none(), "layer"_a = 0, "step"_a = 0,
          "What attention gives with these logits: (B, T, H, D). It has gradients.")
      .def("__repr__", [](const Built& b) { return "<" + b.spelled() + ", built>"; });
  m.def(
      "spelled",
      [](const std::string& kind, const std::string& text) {
        if (kind == "encoding") return choose_encoding(with_spelled_file("encoding", text)).spelled();
        if (kind == "temperature") return choose_temperature(text).spelled();
        const Chosen<Sampler> s = choose_sampler(with_spelled_file("positions", text));
        return s->parts ? s->name : s.spelled();
      },
      "kind"_a, "text"_a,
      "How an encoding, a sampler or a temperature is spelled, shortest. ValueError if it is none.");
  m.def(
      "view",
      [](const std::vector<std::string>& encodings, const std::string& view, int length, const std::string& positions,
         int train_length, int heads, int d_model, int layer, bool causal, uint64_t seed) {
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
                          .seed = seed};
        for (const std::string& e : encodings) options.encodings.push_back(as_typed("encoding", e));
        if (options.encodings.empty()) bad_input("view: no encoding; give one or more");
        return as_dict(show::views(options)[0]);
      },
      "encodings"_a, "view"_a, "length"_a, "positions"_a, "train_length"_a, "heads"_a, "d_model"_a, "layer"_a,
      "causal"_a, "seed"_a, "What `poslab show` draws, as numbers.");
  m.def("draw", draw, "sampler"_a, "length"_a, "sequences"_a, "seed"_a, "step"_a, nb::arg("classes").none());
  m.def("factors", factors, "temperature"_a, "length"_a, "causal"_a, "heads"_a, "d_model"_a, "seed"_a);
}

}  // namespace poslab::python
