// RoPE (Su et al. 2021): pairs of channels of q and k turn with the position, so their product turns with the distance.
//
//   s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D) = q_i . R(p_j - p_i) k_j / sqrt(D)
//   R(p) turns pair m by p 10000^(-2m/D)                                            angles: (1 or B, T, D/2)
#include <cmath>
#include <numbers>

#include "encodings/encoding.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

// (1 or B, T, D/2)
Tensor angles(const Positions& p, int head_dim) {
  const std::vector<double> f = frequencies(head_dim);
  std::vector<double> angle;
  for (double at : p.tokens("rope"))   // less than a turn, because a float holds 2047 radians to only 1e-4
    for (double speed : f) angle.push_back(std::remainder(at * speed, 2 * std::numbers::pi));
  return Tensor::from({p.sequences(), p.time(), int(f.size())}, angle);
}

struct RoPE : Encoding {
  Pairing pairing;
  explicit RoPE(Pairing pairing) : pairing(pairing) {}

  Scores scores(const Heads& in, const Positions& p) const override {
    const int keys = in.k.dim(1), queries = in.q.dim(1), D = in.q.dim(3);
    const auto turn = [&](const char* name, Tensor (*of)(const Tensor&)) {
      return p.once(fmt::format("rope {} {}", name, D), in.q.device(),
                    [&](Device device) { return of(angles(p, D)).to(device); });
    };
    const Rotation of_keys{turn("cos", cosines), turn("sin", sines)};
    const auto last = [&](const Tensor& x) { return queries == keys ? x : slice(x, 1, keys - queries, keys); };
    Scores s = Encoding::scores(in, p);
    s.pieces[0].q = rotate(in.q, Rotation{last(of_keys.cosine), last(of_keys.sine)}, pairing);
    s.pieces[0].k = rotate(in.k, of_keys, pairing);
    return s;
  }

  // The logit of equal contents, 1 at distance 0: the mean of cos(d f_m) over the pairs of channels.
  Tensor shown(const ModelShape& m, const Positions& p) const override {
    return slice(logits_of(*this, m, p, std::pow(m.head_dim(), -0.25)), 0, 0, 1);
  }
};

}  // namespace

Scheme rope() {
  return {.name = "rope",
          .summary = "queries and keys turned by the position, in pairs of channels",
          .about = R"(Queries and keys are turned by angles that grow with the position, one speed for each pair of
channels. The product of a query and a key then depends on the angle between them, and so on the
distance of their positions only. Nothing is learned.)",
          .source = "Su et al. 2021",
          .formula = "s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D),   R(p) turns pair m by p 10000^(-2m/D)",
          .doors = "2",
          .options = {{"pairing", {"interleaved", "half"},
                       "which channels rope turns together: (2m, 2m+1) or (m, m + half)", "rope_pairing"}},
          .reads = [](const Choices&) { return Reads::positions; },
          .check =
              [](const ModelShape& m, const Choices&) {
                if (m.head_dim() % 2)
                  bad_input(
                      "rope turns channels in pairs, and a head of d_model / heads = {} / {} = {} channels has an "
                      "odd one; make the head size even",
                      m.d_model, m.heads, m.head_dim());
              },
          .make =
              [](Params, const ModelShape&, const Choices& c, int) {
                return std::make_unique<RoPE>(c["pairing"] == "half" ? Pairing::half : Pairing::interleaved);
              },
          .shows =
              [](const ModelShape&, const Choices&) {
                return "How alike two equal contents look after their rotations: the mean cosine of the angles between "
                       "them, 1 at the same position.";
              }};
}

}  // namespace poslab
