// The encodings of steps 9 to 13 by their spellings, and the logits that one of them gives to queries and keys.
#pragma once
#include "autograd/tape.h"
#include "check.h"
#include "encodings/encoding.h"
#include "encodings/samplers.h"

namespace poslab {

Scheme sincos(), learned(), rope(), alibi(), relative(), rerope(), window();  // encodings/NAME.cpp

}  // namespace poslab

namespace course {

inline poslab::Chosen<poslab::Scheme> scheme(const std::string& spelling) {
  using namespace poslab;
  static const std::vector<Scheme> all = {sincos(),   learned(), rope(),   alibi(),
                                          relative(), rerope(),  window(), Scheme()};
  return choose("encoding", all, spelling);
}

// The samplers of encodings/samplers_spread.cpp and samplers_subset.cpp: sequential, randomized and their relatives.
inline poslab::Chosen<poslab::Sampler> sampler(const std::string& spelling) {
  using namespace poslab;
  static const std::vector<Sampler> all = [] {
    std::vector<Sampler> both = spread_samplers();
    for (Sampler& s : subset_samplers()) both.push_back(std::move(s));
    return both;
  }();
  return choose("sampler", all, spelling);
}

// One sequence of T tokens and a scheme of one layer: its logits, (1, H, queries, T). Queries are the last slots.
struct Layer {
  poslab::ModelShape shape;
  poslab::Params params{7};
  poslab::PositionLayers all;
  Layer(const std::string& spelling, const poslab::ModelShape& m)
      : shape(m), all((poslab::Params(params) / "encoding"), scheme(spelling), m) {}
  Tensor logits(const Values& q, const Values& k, const poslab::Positions& p, int queries = 0) const {
    const poslab::NoGrad only_looking;
    const auto heads = [&](int slots) { return Shape{1, slots, shape.heads, shape.head_dim()}; };
    const Tensor of_keys = Tensor::from(heads(p.time()), k);
    return all.layers[0]->logits({Tensor::from(heads(queries ? queries : p.time()), q), of_keys, {}}, p, {});
  }
};

}  // namespace course
