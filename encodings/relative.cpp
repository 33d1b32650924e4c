// Relative keys of Transformer-XL (Dai et al. 2019), in both directions:
//
//   s_ij = ( (q_i + u) . k_j + (q_i + v) . W_R sinusoid(d_ij) ) / sqrt(D)           d_ij = p_j - p_i
//
//   u, v: (H, D), W_R: (C, C), in every layer                                       C^2 + 2 C parameters a layer
// Left out: clamp_len, and the distance i - j of the older Chomsky-hierarchy code (weights do not carry over).
#include <cmath>

#include "core/error.h"
#include "encodings/encoding.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

struct Relative : Encoding {
  struct Layer { Tensor u, v, w; };
  std::vector<Layer> layers;
  EncodingSpec spec;

  Relative(const Params& p, const EncodingSpec& s) : spec(s) {
    frequencies(spec.d_model);   // throws for an odd width
    for (int n = 0; n < spec.layers; ++n) {
      const Params layer = p / fmt::format("layer{}", n);
      const Shape heads{spec.heads, spec.head_dim()};
      layers.push_back(
          {layer.normal("u", heads, 0.02), layer.normal("v", heads, 0.02),
           layer.truncated_normal("w", {spec.d_model, spec.d_model}, 1 / std::sqrt(double(spec.d_model)))});
    }
  }

  // The released code shifts its lookups by N and JAX clamps them to the last row, N-1: to the right all offsets are
  // alike (spec, finding 1 (b)).                  -r -> N - r,   0 and r -> N - 1
  double row(double distance) const {
    if (spec.mode != RelativeMode::released) return distance;
    if (-distance >= spec.max_position)
      bad_input("relative: mode released has no row for distance {} in a table of {}; raise max_position", distance,
                spec.max_position);
    return distance < 0 ? spec.max_position + distance : spec.max_position - 1;
  }
  double told(double distance, int) const override { return row(distance); }

  Scores scores(const Heads& in, const Positions& p, int layer) const override {
    const auto& [u, v, w] = layers.at(size_t(layer));
    const bool table = spec.mode == RelativeMode::offset_table || spec.mode == RelativeMode::released;
    const Distances& distances = table ? p.offsets("relative") : p.distances();
    std::vector<double> d;
    for (double value : distances.rows(in.q.device())) d.push_back(row(value));
    Scores s = Encoding::scores(in, p, layer);
    s.pieces[0].q = in.q + u, s.q_rel = in.q + v;
    s.r = linear(sinusoid(d, spec.d_model, in.q.device()), w).reshape({int(d.size()), spec.heads, spec.head_dim()});   // (N, H, D)
    s.pairs = distances.of_last(in.q.dim(1));
    return s;
  }
};

}  // namespace

Scheme relative() {
  return {"relative", "a learned projection of sin and cos of the distance, met by the query", "Dai et al. 2019", true,
          [](Params p, const EncodingSpec& spec) { return std::make_unique<Relative>(p, spec); }};
}

}  // namespace poslab
