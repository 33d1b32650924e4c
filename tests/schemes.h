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
  Draw draw(SamplerSpec pool_spec = {pool, 0, true}, int time = T) const {
    pool_spec.first = spec.first;
    return {*sampler, pool_spec, resample, stream(7, Purpose::positions, 3), B, time};
  }
};

// One edit of the spec each, for the one scheme that reads it (`of`) or for all; modes only where distances are read.
inline std::vector<Setup> all_setups(Mask mask = Mask::none) {
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
      spec.max_position = pool + 13, spec.mask = mask;
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

inline std::vector<Setup> setups(Mask mask = Mask::none) {
  std::vector<Setup> list = all_setups(mask);
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
  Scores scores(const Encoding& e, const Positions& at_embedding, const Positions& at_layer, int layer,
                int queries = 0) const {
    const int time = x.dim(1), from = queries ? time - queries : 0;
    const Tensor added = e.embed(x, at_embedding).reshape({B, time, H, D});
    return e.scores({slice(q + added, 1, from, time), k + added}, at_layer, layer);
  }
  Scores scores(const Encoding& e, const Positions& p) const { return scores(e, p, p, 1); }
};

inline Tensor logits(const Encoding& e, const Positions& p, const Content& content = {}) {
  return composed::logits(content.scores(e, p), Mask::none);   // (B, H, T, T)
}

struct Model {
  Params params{5};
  std::unique_ptr<Encoding> encoding;
  explicit Model(const EncodingSpec& spec) : encoding(poslab::encoding(spec.name).make(params / "encoding", spec)) {
    if (!params.entries().empty()) params.pack();
  }
  const Encoding& operator*() const { return *encoding; }
};

// NoPE, and whatever else tells all pairs the same.
inline bool blind(const Encoding& e) {
  return e.told(-1) == e.told(-3) && e.told(1) == e.told(3) && e.told(1) == e.told(-1);
}

}  // namespace poslab::test
