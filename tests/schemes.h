// Every scheme x variant x sampler x resample that go together, and the small attention that the tests of schemes run.
// Generated from all_encodings() and all_samplers(): a new scheme is tested by being in the list.
#pragma once
#include <array>
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "autograd/composed.h"
#include "autograd/tape.h"
#include "core/error.h"
#include "core/params.h"
#include "encodings/encoding.h"

namespace poslab::test {

inline constexpr int B = 2, T = 6, H = 4, D = 4, C = H * D, layers = 2, pool = 11;
inline constexpr double tolerance = sizeof(real) == 4 ? 1e-5 : 1e-11;

struct Setup {
  const Scheme* scheme;
  EncodingSpec spec;
  std::string variant;
  const Sampler* sampler;
  Resample resample;
  // Such a mode reads one offset for each j - i (spec A.2).
  bool reads_table() const {
    return scheme->relative && (spec.mode == RelativeMode::offset_table || spec.mode == RelativeMode::released ||
                                (spec.mode == RelativeMode::paper && scheme->paper_table));
  }
  bool fits() const {
    return sampler->name == "randomized" ? !reads_table() : sampler->name != "randomized_offsets" || scheme->relative;
  }
  std::string name() const {
    static const char* how[] = {"per_forward", "per_layer", "per_sequence"};
    return scheme->name + " " + variant + ", " + sampler->name + " " + how[int(resample)];
  }
  PositionSample draw(SamplerSpec pool_spec = {pool, 0, true}, int time = T) const {
    pool_spec.first = spec.first;
    return {*sampler, pool_spec, resample, stream(7, Purpose::positions, 3), B, time};
  }
};

// One edit of the spec each, for the one scheme that reads it (`of`) or for all; modes only where distances are read.
inline std::vector<Setup> all_setups(bool causal = false) {
  struct Variant { std::string name, of; void (*edit)(EncodingSpec&); };
  static const Variant variants[] = {
      {"plain", "", [](EncodingSpec&) {}},
      {"offset_table", "", [](EncodingSpec& s) { s.mode = RelativeMode::offset_table; }},
      {"differences", "", [](EncodingSpec& s) { s.mode = RelativeMode::differences; }},
      {"released", "relative", [](EncodingSpec& s) { s.mode = RelativeMode::released; }},
      {"symmetric", "alibi", [](EncodingSpec& s) { s.symmetric = true; }},
      {"half", "rope", [](EncodingSpec& s) { s.pairing = Pairing::half; }},
      {"first 1", "", [](EncodingSpec& s) { s.first = 1; }},
  };
  std::vector<Setup> list;
  for (const Scheme& scheme : all_encodings())
    for (const Variant& variant : variants) {
      EncodingSpec spec;
      spec.name = scheme.name, spec.layers = layers, spec.heads = H, spec.d_model = C;
      spec.max_position = pool + 13, spec.causal = causal;
      variant.edit(spec);
      if (!variant.of.empty() && variant.of != scheme.name) continue;
      if (spec.mode != RelativeMode::paper && !scheme.relative) continue;
      for (const Sampler& sampler : all_samplers())
        for (Resample resample : {Resample::per_forward, Resample::per_layer, Resample::per_sequence})
          if (sampler.random || resample == Resample::per_forward)
            list.push_back({&scheme, spec, variant.name, &sampler, resample});
    }
  return list;
}

inline std::vector<Setup> setups(bool causal = false) {
  std::vector<Setup> list = all_setups(causal);
  std::erase_if(list, [](const Setup& s) { return !s.fits(); });
  return list;
}

inline Tensor random_tensor(Shape shape, uint32_t which, double size = 1) {
  Rng rng(stream(11, Purpose::tokens, 0, which));
  Tensor x(std::move(shape));
  std::generate_n(x.data(), x.size(), [&] { return real(size * rng.normal()); });
  return x;
}

// The largest difference, in units of the largest magnitude (at least 1). -infinity equals itself.
inline double apart(const Tensor& a, const Tensor& b) {
  if (a.shape() != b.shape()) bad_input("apart: shapes {} and {}", to_string(a.shape()), to_string(b.shape()));
  double most = 0, size = 1;
  for (int64_t i = 0; i < a.size(); ++i) {
    const double x = a.data()[i], y = b.data()[i];
    if (x == y) continue;
    if (!(std::abs(x - y) <= std::abs(x - y))) return INFINITY;   // a NaN
    most = std::max(most, std::abs(x - y)), size = std::max(size, std::abs(y));
  }
  return most / size;
}

// x[:, order, ...]
inline Tensor reorder(const Tensor& x, const std::vector<int>& order) {
  std::vector<Tensor> parts;
  for (int t : order) parts.push_back(slice(x, 1, t, t + 1));
  return concat(parts, 1);
}

// Door 1 and doors 2 and 3 in one: e = embed(x), then queries q + e and keys k + e, so that every scheme is seen.
struct Content {
  Tensor x = random_tensor({B, T, C}, 1), q = random_tensor({B, T, H, D}, 2), k = random_tensor({B, T, H, D}, 3),
         v = random_tensor({B, T, H, D}, 4);

  static Content same_everywhere() {   // each slot holds what slot 0 holds: only position tells slots apart
    Content c;
    const std::vector<int> zeros(T, 0);
    for (Tensor* t : {&c.x, &c.q, &c.k, &c.v}) *t = reorder(*t, zeros);
    return c;
  }
  Content reordered(const std::vector<int>& order) const {
    Content c;
    c.x = reorder(x, order), c.q = reorder(q, order), c.k = reorder(k, order), c.v = reorder(v, order);
    return c;
  }
  std::vector<Tensor> leaves() const { return {x, q, k, v}; }

  // The queries are the last `queries` slots, as in cached decoding.
  Heads heads(const Encoding& e, const Positions& at_embedding, int queries = 0) const {
    const int time = x.dim(1), from = queries ? time - queries : 0;
    const Tensor state = e.embed(x, at_embedding), added = state.reshape({B, time, H, D});
    return {slice(q + added, 1, from, time), k + added, slice(state, 1, from, time)};
  }
  Scores scores(const Encoding& e, const Positions& p) const { return e.scores(heads(e, p), p, 1); }
  Tensor attend(const Encoding& e, const Positions& p, Span span, int queries = 0) const {
    if (queries) span.offset = x.dim(1) - queries;
    return e.attend(heads(e, p, queries), v, p, 1, span);
  }
};

struct Model {
  Params params{5};
  std::unique_ptr<Encoding> encoding;
  explicit Model(const EncodingSpec& spec) : encoding(poslab::encoding(spec.name).make(params / "encoding", spec)) {
    if (!params.entries().empty()) params.pack();
  }
  const Encoding& operator*() const { return *encoding; }
};

// Whether a pair is told its distance in positions, its distance in slots, or, as by NoPE, nothing.
inline bool reads_positions(const Encoding& e) {
  for (const double distance : {-3, -1, 3})
    if (e.told(distance, 1) != e.told(1, 1)) return true;
  return false;
}
inline bool reads_slots(const Encoding& e) { return e.told(1, 1) != e.told(1, 3); }
// Whether a pair is told on which side the key is: by its place in the sequence, or by the sign of the distance.
inline bool tells_sides(const Encoding& e) {
  bool tells = e.adds_to_embedding();
  for (const int d : {1, 2, 3}) tells |= e.told(d, d) != e.told(-d, -d);
  return tells;
}
inline bool blind(const Encoding& e) { return !reads_positions(e) && !reads_slots(e); }

// Schemes that open door 4 and so have no scores: each stands here with its weights, written with primitive ops.
using OwnWeights = Tensor (*)(const Params&, const Heads&, int layer, const Span&);                  // (B, H, Tq, Tk)
inline Tensor geometric_weights(const Params& params, const Heads& in, int layer, const Span& span) {
  const auto of = [&](const char* name) { return params.at(fmt::format("encoding.layer{}.{}", layer, name)); };
  const Tensor match = matmul(permute(in.q + of("c"), {0, 2, 1, 3}), permute(in.k, {0, 2, 3, 1}));
  const Tensor directions = composed::linear(in.x, of("w"), of("b")).reshape({B, in.q.dim(1), H, 2});
  return composed::geometric(match * of("alpha") + of("gamma"), permute(directions, {0, 2, 1, 3}) * of("beta"), span);
}
inline OwnWeights own_weights(const Scheme& scheme) { return scheme.name == "geometric" ? geometric_weights : nullptr; }

// The composed twin of a scheme's attend.
inline Tensor composed_attend(const Setup& setup, const Model& model, const Heads& in, const Tensor& v,
                              const Positions& p, int layer, const Span& span) {
  const OwnWeights own = own_weights(*setup.scheme);
  if (!own) return composed::attention((*model).scores(in, p, layer), v, span);
  return permute(matmul(own(model.params, in, layer, span), permute(v, {0, 2, 1, 3})), {0, 2, 1, 3});
}

// What a scheme makes of a content: its logits, or behind door 4 its weights.                (B, H, T, T)
inline Tensor logits(const Setup& setup, const Encoding& e, const Positions& p, const Content& content = {}) {
  if (own_weights(*setup.scheme)) return e.weights(content.heads(e, p), p, 1, {});
  return composed::logits(content.scores(e, p), {});
}

}  // namespace poslab::test
