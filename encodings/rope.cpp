// RoPE (Su et al. 2021): pairs of channels of q and k turn with the position, so their product turns with the distance.
//
//   s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D) = q_i . R(p_j - p_i) k_j / sqrt(D)
//   R(p) turns pair m by p 10000^(-2m/D)                                            angles: (1 or B, T, D/2)
#include <cmath>
#include <numbers>

#include "core/error.h"
#include "encodings/encoding.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

struct RoPE : Encoding {
  Pairing pairing;
  std::vector<double> f;
  explicit RoPE(const EncodingSpec& spec) : pairing(spec.pairing) {
    if (spec.head_dim() % 2)
      bad_input("rope: heads of {} channels do not fall into pairs; choose d_model / heads even", spec.head_dim());
    f = frequencies(spec.head_dim());
  }

  Scores scores(const Heads& in, const Positions& p, int layer) const override {
    const int keys = in.k.dim(1), queries = in.q.dim(1);
    std::vector<double> angle;
    for (double at : p.tokens("rope"))   // less than a turn, because a float holds 2047 radians to only 1e-4
      for (double speed : f) angle.push_back(std::remainder(at * speed, 2 * std::numbers::pi));
    const Tensor angles = Tensor::from({p.sequences(), keys, int(f.size())}, angle);
    Scores s = Encoding::scores(in, p, layer);
    s.pieces[0].q = rotate(in.q, queries == keys ? angles : slice(angles, 1, keys - queries, keys), pairing);
    s.pieces[0].k = rotate(in.k, angles, pairing);
    return s;
  }
  double told(double distance, int) const override { return distance; }
};

}  // namespace

Scheme rope() {
  return {"rope", "queries and keys turned by the position, in pairs of channels", "Su et al. 2021", false,
          [](Params, const EncodingSpec& spec) { return std::make_unique<RoPE>(spec); }};
}

}  // namespace poslab
