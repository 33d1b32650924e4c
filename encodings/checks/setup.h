// All valid combinations of scheme, variant, sampler and resampling, and the small attention for checks of schemes.
// Generated from all_encodings(), all_samplers() and their options: a new scheme in the list is checked with each of
// its options.
#pragma once
#include <string>
#include <vector>

#include "encodings/encoding.h"

namespace poslab::checks {

inline constexpr int B = 2, T = 6, H = 4, D = 4, C = H * D, layers = 2, pool = 11;
inline constexpr double tolerance = sizeof(real) == 4 ? 1e-5 : 1e-11;

struct Setup {
  Chosen<Scheme> scheme;
  ModelShape shape;
  std::string variant;
  Chosen<Sampler> sampler;
  Resample resample;

  bool reads(Reads what) const { return has(poslab::reads(scheme), what); }
  bool reads_positions() const { return reads(Reads::positions | Reads::distances | Reads::offset_table); }
  bool reads_slots() const { return reads(Reads::slots); }
  bool blind() const { return !reads_positions() && !reads_slots(); }
  Laws laws() const { return scheme->laws(shape, scheme.choices); }
  bool causal_only() const { return !scheme->causal_only(scheme.choices).empty(); }
  Span span() const { return {.causal = shape.causal}; }
  bool fits() const;   // the scheme can read the sampler's draws
  std::string name() const;
  PositionSample draw(int pool_size = pool, int time = T) const;
};

// Values of an option other than its default, as text.
std::vector<std::string> other_values(const Option&);
// All schemes; each that can be part of a composition also as a group of heads; and one composition by layers.
std::vector<std::string> all_spellings();
// A scheme with its defaults, with each option on its own at each of a few values, and in a model whose positions begin
// at 1. The defaults run with all samplers and ways to resample, other options with a few. A spelling that sets options
// runs only with those.
std::vector<Setup> all_setups(bool causal = false, const std::vector<std::string>& spellings = all_spellings());
std::vector<Setup> setups(bool causal = false, const std::vector<std::string>& spellings = all_spellings());
// Each scheme without a mask if it works without one, else with a causal one.
std::vector<Setup> each_setup(const std::vector<std::string>& spellings = all_spellings());

Tensor random_tensor(Shape shape, uint32_t which, double size = 1);
// The largest difference, in units of the largest magnitude (at least 1). -infinity equals itself.
double difference(const Tensor& a, const Tensor& b);
Tensor reorder(const Tensor& x, const std::vector<int>& order);   // x[:, order, ...]

// The layers of a scheme in a small model; tests run layer 1, or layer 0 if layers differ.
struct Model {
  Params params{5};
  PositionLayers scheme;
  size_t layer;
  Model(const Chosen<Scheme>&, const ModelShape&);
  // For the laws, parameters are moved away from their initial values, which may be 0.
  explicit Model(const Setup&);
  const Encoding& operator*() const { return *scheme.layers.at(layer); }
  const Encoding* operator->() const { return &**this; }
  Tensor embed(const Tensor& x, const Positions& p) const { return scheme.embed ? scheme.embed(x, p) : x; }
};

// Doors 1 to 3 in one: e = embed(x), queries q + e and keys k + e, so that every scheme has an effect.
struct Content {
  Tensor x, q, k, v;
  explicit Content(int time = T, int heads = H);
  Content same_everywhere() const;   // each slot has the content of slot 0: slots differ by position only
  Content reordered(const std::vector<int>& order) const;
  Content first_slots(int time) const;
  std::vector<Tensor> leaves() const { return {x, q, k, v}; }

  // The queries are the last `queries` slots, as in cached decoding.
  Heads heads(const Model&, const Positions& at_embedding, int queries = 0) const;
  Scores scores(const Model& m, const Positions& p) const { return m->scores(heads(m, p), p); }
  Tensor attend(const Model&, const Positions&, Span, int queries = 0) const;
};

// The weights of geometric attention with the parameters at `path`, written with primitive ops           (B, H, Tq, Tk)
Tensor geometric_weights(const Params&, const std::string& path, const Heads&, const Span&);
// The composed twin of an encoding's attend: scores through primitive ops, groups of heads one by one.
Tensor composed_attend(const Encoding&, const Params&, const std::string& path, const Heads&, const Tensor& v,
                       const Positions&, const Span&);
bool has_twin(const Model&);   // false if the encoding itself is composed
// The logits of a scheme for a content, or its weights if they are not a softmax of logits.           (B, H, T, T)
Tensor logits(const Setup&, const Model&, const Positions&, const Content&);

}  // namespace poslab::checks
