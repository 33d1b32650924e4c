// PoPE (Gopalakrishnan et al. 2025): content sets the size of a channel, position its angle.
//
//   s_ij = sum_m softplus(q_im) softplus(k_jm) cos((p_j - p_i) f_m + delta_hm) / sqrt(D),   f_m = 10000^(-m/D), m < D
//
// delta: (H, D) angles. The range -2 pi .. 0, to which the paper and its code clamp delta, holds every angle;
// delta is left free here, because a clamp would hold back every step up from 0.
#include <cmath>
#include <numbers>

#include "encodings/picture.h"
#include "encodings/rotary.h"

namespace poslab {
namespace {

struct PoPE : Encoding {
  Tensor delta;
  std::vector<double> f;
  PoPE(const Params& p, const ModelShape& m, const Choices& c)
      : delta(c["start"] == "zero" ? p.full("delta", {m.heads, m.head_dim()}, 0)
                                   : p.uniform("delta", {m.heads, m.head_dim()}, -2 * std::numbers::pi, 0)) {
    for (int n = 0; n < m.head_dim(); ++n) f.push_back(std::pow(10000.0, -double(n) / m.head_dim()));
  }

  Scores scores(const Heads& in, const Positions& p) const override {
    const int queries = in.q.dim(1), D = in.q.dim(3);
    const auto by_slot = [&](const Tensor& x) { return x.reshape({x.dim(0), x.dim(1), 1, D}); };
    const Rotation of_keys = rotation_by(p, "pope", fmt::format("pope {}", D), in.q.device(), f);
    const Rotation of_queries = last_slots(of_keys, queries);
    const Tensor cosine = by_slot(of_keys.cosine), sine = by_slot(of_keys.sine), c = cos(delta), s = sin(delta);
    const Tensor q = softplus(in.q), k = softplus(in.k);
    Scores scores = Encoding::scores(in, p);
    scores.pieces[0].q = concat({q * by_slot(of_queries.cosine), q * by_slot(of_queries.sine)}, 3);
    scores.pieces[0].k = concat({k * (cosine * c - sine * s), k * (sine * c + cosine * s)}, 3);
    return scores;
  }
};

}  // namespace

extern const SchemePages pope_pages;
Scheme pope() {
  return {.name = "pope",
          .options = {{"start", {"zero", "uniform"}, "the learned angles before training: 0, or uniformly random"}},
          .reads = always(Reads::positions), .make = layer_of<PoPE>, .pages = pope_pages};
}

// -- for pages
const SchemePages pope_pages = {
    .summary = "the content sets the size of each channel, the position its angle",
    .about = R"(In RoPE the angle between a query and a key depends on both their content and their distance. Here
each channel has a size, which is never negative and comes from the content, and an angle, which
comes from the position. A learned angle for each channel says at which distance it answers most.)",
    .formula = "s_ij = sum_m softplus(q_im) softplus(k_jm) cos((p_j - p_i) f_m + delta_hm) / sqrt(D),   "
               "f_m = 10000^(-m/D)",
    .source = "Gopalakrishnan et al. 2025", .doors = "2",
    .shows = always("The logit of equal contents: the mean cosine of the angles between them."),
    .pictures = {.matrix = always(PairPicture{Quantity::equal_contents, [](auto& e, auto& m, auto& p) {
      return logits_of(e, m, p, std::log(std::expm1(std::pow(m.head_dim(), -0.25))));   // softplus gives D^(-1/4)
    }})}};

}  // namespace poslab
