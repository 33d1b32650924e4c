// A scheme, a sampler and a temperature for a model of some shape, without the model: pl.encodings.rope.build(), on
// which the layers for PyTorch (python/poslab/torch) are built.
#include <nanobind/stl/optional.h>

#include <algorithm>
#include <optional>

#include "autograd/tape_piece.h"
#include "encodings/compose.h"
#include "encodings/grouped_heads.h"
#include "encodings/temperature.h"
#include "lab/runs/spelled_file.h"
#include "lab/runs/unreached.h"
#include "python/op.h"

namespace poslab::python {
namespace {

struct Shaped {
  std::string encoding, positions, temperature;
  int layers, heads, d_model, head_dim;  // head_dim 0: d_model / heads
  bool causal;
  std::optional<int> pool;       // absent: the sampler's or ModelShape's default
  int train_length;
  uint64_t seed;
};

// The sampler, or its parts.
std::vector<Chosen<Sampler>> parts_of(const Chosen<Sampler>& s) {
  std::vector<Chosen<Sampler>> all = s->parts ? *s->parts : std::vector{s};
  if (s->added) all.push_back(*s->added);
  return all;
}

// Adds the run's pool to a sampler without its own.
Chosen<Sampler> sampler_of(const Shaped& s) {
  const std::string text = with_spelled_file("positions", s.positions);
  RunValues run = trained_on(s.train_length);
  if (!s.pool) return choose_sampler(text, run);
  run["max_position"] = fmt::format("{}", *s.pool);
  const Chosen<Sampler> all = choose_sampler(text, run);
  for (const Chosen<Sampler>& one : parts_of(all))
    if (one.choices.has("max_position") && one.choices.whole("max_position") != *s.pool)
      bad_input("pool = {} and positions = {} contradict each other; give the pool one value", *s.pool, text);
  return all;
}

// Rows of a scheme's table: the given number, or as many as the sampler's largest pool has positions. Counted positions
// have no pool.
int rows_of(const Shaped& s, const Chosen<Sampler>& sampler) {
  int rows = s.pool.value_or(0);
  for (const Chosen<Sampler>& one : parts_of(sampler))
    rows = std::max(rows, one.choices.has("max_position") ? one.choices.whole("max_position")
                          : s.pool                        ? 0
                                                          : ModelShape().pool);
  return rows;
}

// Whether a larger pool gives any scheme of the composition more rows.
bool has_rows(const Chosen<Scheme>& s) {
  bool any = false;
  each_part(s.spelled(), [&](const std::string& text) {
    const Chosen<Scheme> part = choose_encoding(text);
    any = any || finite(part) || (part.choices.has("mode") && part.choices["mode"] == "released");
    return text;
  });
  return any;
}

void refuse_unused_pool(const Shaped& s, const Chosen<Scheme>& scheme, const Chosen<Sampler>& sampler) {
  if (!s.pool || has_rows(scheme)) return;
  const std::vector<Chosen<Sampler>> parts = parts_of(sampler);
  if (std::none_of(parts.begin(), parts.end(), [](const auto& one) { return one.choices.has("max_position"); }))
    bad_input("pool = {} changes nothing: {} has no table of positions, and positions = {} come from no pool; choose "
              "positions such as randomized, or leave pool out", *s.pool, scheme.spelled(), s.positions);
}

// Arguments of a pass other than queries and keys. All may be absent.
struct Given {
  Tensor x, x_keys;  // (B, Tq, C), (B, Tk, C): the states from which queries and keys were made
  int layer = 0, step = 0;
  Ids lengths;                    // (B): keys of each sequence; later ones are padding
  std::vector<double> positions;  // (1 or B, Tk); else the sampler draws them
  Shape positions_shape;
};

class Built {
 public:
  explicit Built(const Shaped& s) : seed_(s.seed), params_(s.seed) {
    limit_shape(s.heads, s.d_model, s.layers);
    if (s.pool) limit("pool", *s.pool, 1 << 20);
    limit("train_length", s.train_length, 1 << 24);
    if (s.head_dim) limit("head_dim", s.head_dim, 65536);
    if (!s.head_dim && s.d_model % s.heads)
      bad_input("{}: width {} with {} heads; the width must be a multiple of the heads", s.encoding, s.d_model,
                s.heads);
    scheme_ = choose_encoding(with_spelled_file("encoding", s.encoding), trained_on(s.train_length));
    sampler_ = sampler_for(scheme_, sampler_of(s));
    refuse_unused_pool(s, scheme_, sampler_);
    if (const std::string why = unread_positions(scheme_, sampler_);
        !why.empty() && PyErr_WarnEx(PyExc_UserWarning, why.c_str(), 1))
      throw nb::python_error();   // warnings are errors here
    policy_ = choose_temperature(with_spelled_file("temperature", s.temperature), trained_on(s.train_length));
    shape_ = {.layers = s.layers, .heads = s.heads, .d_model = s.d_model, .causal = s.causal,
              .pool = rows_of(s, sampler_)};
    if (s.head_dim != s.d_model / s.heads) shape_.head_width = s.head_dim;
    if (sampler_.choices.has("first")) shape_.first = sampler_.choices.whole("first");
    layers_ = std::make_shared<const PositionLayers>(params_ / "encoding", scheme_, shape_);
    temperature_ = temperature_layers(params_ / "temperature", policy_, shape_);
    if (!params_.entries().empty()) params_.pack();
  }
  std::string spelled() const { return scheme_.spelled(); }
  nb::dict parameters() const {
    nb::dict all;
    for (const Params::Entry& e : params_.entries()) all[e.name.c_str()] = nb::cast(e.tensor);
    return all;
  }
  bool adds_to_embedding() const { return bool(layers_->embed); }
  bool reads_states() const {
    return std::any_of(layers_->layers.begin(), layers_->layers.end(),
                       [](const auto& layer) { return poslab::reads_states(*layer); });
  }
  Tensor embed(const Tensor& x, const Given& g) const {
    if (!layers_->embed) bad_input("{} adds nothing to the embedding; ask for its logits", spelled());
    if (x.dims() != 3 || x.dim(2) != shape_.d_model)
      bad_input("{}: x is {}; it must be (batch, time, {})", spelled(), to_string(x.shape()), shape_.d_model);
    return layers_->embed(x, drawn(x.dim(0), x.dim(1), g)->at_embedding());
  }
  Tensor logits(const Tensor& q, const Tensor& k, const Given& g) const {
    const Prepared in = prepared(q, k, g);
    return at(g).logits(
        {in.heads.q, repeat_heads(in.heads.k, shape_.heads), in.heads.x, in.heads.x_keys, in.heads.temperature},
        in.positions, in.span);
  }
  Tensor weights(const Tensor& q, const Tensor& k, const Given& g) const {
    const NoGrad only_looking;
    const Prepared in = prepared(q, k, g);
    return at(g).weights(in.heads, in.positions, in.span);
  }
  Tensor attend(const Tensor& q, const Tensor& k, const Tensor& v, const Given& g) const {
    const Prepared in = prepared(q, k, g);
    if (v.dims() != 4 || v.dim(0) != k.dim(0) || v.dim(1) != k.dim(1) || v.dim(2) != k.dim(2))
      bad_input("{}: v is {} and k {}; all sizes but the last must be equal", spelled(), to_string(v.shape()),
                to_string(k.shape()));
    return at(g).attend(in.heads, repeat_heads(v, in.heads.k.dim(2)), in.positions, in.span);
  }

 private:
  struct Prepared {
    std::shared_ptr<const PositionSample> drawn;  // kept, because Python's scores() may replace them
    Heads heads;
    const Positions& positions;
    Span span;
  };

  const Encoding& at(const Given& g) const { return *layers_->layers[size_t(g.layer)]; }

  // Positions of these slots. The last call's positions are kept, with values that depend on them alone, for all layers
  // of a pass.
  std::shared_ptr<const PositionSample> drawn(int batch, int slots, const Given& g) const {
    const Shape& given = g.positions_shape;
    if (!g.positions.empty() && given != Shape{slots} && given != Shape{1, slots} && given != Shape{batch, slots})
      bad_input("{0}: positions are {1}; they must be ({2}) or ({3}, {2}): one for each slot, cached ones too",
                spelled(), to_string(given), slots, batch);
    if (last_ && last_slots_ == slots && last_step_ == g.step && last_given_ == g.positions) return last_;
    const int sequences = int(g.positions.size()) / slots;
    const auto now = std::make_shared<const PositionSample>(
        g.positions.empty() ? PositionSample(sampler_, Resample::per_forward,
                                             stream(seed_, Purpose::positions, uint64_t(g.step)), 1, slots)
                            : PositionSample({Positions::of_tokens(sequences, g.positions)}));
    last_ = now, last_slots_ = slots, last_step_ = g.step, last_given_ = g.positions;
    return now;
  }

  // Checks queries and keys; the states that they come from default to q and k themselves.
  Prepared prepared(const Tensor& q, const Tensor& k, const Given& g) const {
    if (g.layer < 0 || g.layer >= shape_.layers)
      bad_input("layer {} of {}; they are counted from 0", g.layer, shape_.layers);
    const int H = shape_.heads, D = shape_.head_dim(), C = shape_.d_model;
    if (q.dims() != 4 || k.dims() != 4 || q.dim(2) != H || q.dim(3) != D || k.dim(3) != D || q.dim(0) != k.dim(0) ||
        H % k.dim(2) || q.dim(1) > k.dim(1))
      bad_input("{}: q is {} and k {}; both must be (batch, time, {}, {}), but k may have more slots or fewer heads",
                spelled(), to_string(q.shape()), to_string(k.shape()), H, D);
    const bool same_slots = q.dim(1) == k.dim(1);
    const auto states = [&](const char* name, const Tensor& given, const Tensor& heads) {
      const Shape wanted = {heads.dim(0), heads.dim(1), C};
      if (given && given.shape() != wanted)
        bad_input("{}: {} is {}; it must be {}", spelled(), name, to_string(given.shape()), to_string(wanted));
      return given || heads.size() != size_of(wanted) ? given : heads.reshape(wanted);
    };
    const Tensor x = states("x", g.x, q);
    const Tensor x_keys = states("x_keys", g.x_keys ? g.x_keys : same_slots ? g.x : Tensor(), k);
    if (poslab::reads_states(at(g)) && (!x || !x_keys))
      bad_input("{} may read the states that queries and keys are made from; give x and x_keys", spelled());
    const auto sample = drawn(k.dim(0), k.dim(1), g);
    const Positions& positions = sample->at_layer(g.layer);
    const Span span{.causal = shape_.causal, .offset = k.dim(1) - q.dim(1), .key_lengths = g.lengths};
    const Heads heads = temperature_[size_t(g.layer)]({q, k, x, x_keys}, positions, span);
    return {sample, fit_key_heads(at(g), heads, positions), positions, span};
  }

  uint64_t seed_;
  Chosen<Scheme> scheme_;
  Chosen<Sampler> sampler_;
  Chosen<TemperaturePolicy> policy_;
  ModelShape shape_;
  Params params_;
  std::shared_ptr<const PositionLayers> layers_;
  std::vector<Temperature> temperature_;
  mutable std::shared_ptr<const PositionSample> last_;
  mutable int last_slots_ = 0, last_step_ = 0;
  mutable std::vector<double> last_given_;
};

// The arguments from Python. x_keys, lengths and positions may be None.
Given given_of(nb::handle x, nb::handle x_keys, int layer, int step, nb::handle lengths, nb::handle positions) {
  Given g{tensor_or_absent(x), tensor_or_absent(x_keys), layer, step, ids_of(lengths), {}};
  if (positions.is_none()) return g;
  std::tie(g.positions_shape, g.positions) = positions_of(positions);
  return g;
}

// logits or weights
template <Tensor (Built::*of)(const Tensor&, const Tensor&, const Given&) const>
Tensor looked_at(const Built& b, TensorLike q, TensorLike k, nb::object x, int layer, int step, nb::object x_keys,
                 nb::object lengths, nb::object positions) {
  return (b.*of)(tensor_of(q), tensor_of(k), given_of(x, x_keys, layer, step, lengths, positions));
}

}  // namespace

void add_built(nb::module_& m) {
  nb::class_<Built>(m, "Built", "An encoding in a model of some shape, with parameters of its own.")
      .def(
          "__init__",
          [](Built* self, std::string encoding, std::string positions, int layers, int heads, int d_model, bool causal,
             std::optional<int> pool, int train_length, uint64_t seed, std::string temperature, int head_dim) {
            new (self) Built({std::move(encoding), std::move(positions), std::move(temperature), layers, heads, d_model,
                              head_dim, causal, pool, train_length, seed});
          },
          "encoding"_a, "positions"_a = "sequential", "layers"_a = 1, "heads"_a = 8, "d_model"_a = 64,
          "causal"_a = false, "pool"_a = nb::none(), "train_length"_a = 40, "seed"_a = 0, "temperature"_a = "none",
          "head_dim"_a = 0)
      .def_prop_ro("parameters", &Built::parameters, "its learned tensors by name")
      .def_prop_ro("adds_to_embedding", &Built::adds_to_embedding, "whether embed() has something to add")
      .def_prop_ro("reads_states", &Built::reads_states, "whether it may read x and x_keys")
      .def(
          "embed",
          [](const Built& b, TensorLike x, int step, nb::object positions) {
            return b.embed(tensor_of(x), given_of(nb::none(), nb::none(), 0, step, nb::none(), positions));
          },
          "x"_a, "step"_a = 0, "positions"_a = nb::none(),
          "x (B, T, C) with positions added, for an encoding that adds them to the embedding.")
      .def(
          "logits", looked_at<&Built::logits>, "q"_a, "k"_a, "x"_a = nb::none(), "layer"_a = 0, "step"_a = 0,
          "x_keys"_a = nb::none(), "lengths"_a = nb::none(), "positions"_a = nb::none(),
          "(B, H, Tq, Tk) of queries (B, Tq, H, D) and keys (B, Tk, G, D), -infinity where masked; the queries are in "
          "the\nlast slots. x (B, Tq, C) and x_keys (B, Tk, C): the states that they are made from, for encodings "
          "that read\nthem; by default q and k themselves. lengths (B,): the number of keys of each sequence; later "
          "ones are\npadding. positions (Tk,) or (B, Tk): in place of those that the sampler draws at this step.")
      .def("weights", looked_at<&Built::weights>, "q"_a, "k"_a, "x"_a = nb::none(), "layer"_a = 0, "step"_a = 0,
           "x_keys"_a = nb::none(), "lengths"_a = nb::none(), "positions"_a = nb::none(),
           "The weight of each query on each value, (B, H, Tq, Tk), without a gradient; arguments as for logits.")
      .def(
          "attend",
          [](const Built& b, TensorLike q, TensorLike k, TensorLike v, nb::object x, int layer, int step,
             nb::object x_keys, nb::object lengths, nb::object positions) {
            const Given g = given_of(x, x_keys, layer, step, lengths, positions);
            return b.attend(tensor_of(q), tensor_of(k), tensor_of(v), g);
          },
          "q"_a, "k"_a, "v"_a, "x"_a = nb::none(), "layer"_a = 0, "step"_a = 0, "x_keys"_a = nb::none(),
          "lengths"_a = nb::none(), "positions"_a = nb::none(),
          "Attention's result with these logits, (B, Tq, H, D) from values (B, Tk, G, D). It has gradients. Arguments "
          "as for\nlogits.")
      .def("__repr__", [](const Built& b) { return "<" + b.spelled() + ", built>"; });
  nb::class_<TapePiece>(m, "TapePiece",
                        "Takes the ops off the tape that this thread has recorded since the tape had that length.")
      .def(nb::init<size_t>(), "since"_a)
      .def(
          "backward", [](const TapePiece& piece, const Tensor& y, TensorLike dy) { piece.backward(y, tensor_of(dy)); },
          "y"_a, "dy"_a, "Given d loss / d y, adds to the gradients of all tensors that y was computed from.");
  m.def(
      "has_rows",
      [](const std::string& encoding) { return has_rows(choose_encoding(with_spelled_file("encoding", encoding))); },
      "encoding"_a, "Whether it has a table with a row for each position of a pool.");
  m.def(
      "take_grad", [](const Tensor& x) { return x.take_grad(); }, "x"_a,
      "d loss / d x without a copy, zeros if there is no gradient; x begins a new gradient.");
}

}  // namespace poslab::python
