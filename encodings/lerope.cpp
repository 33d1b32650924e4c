// LeRoPE, RoPE with learned frequencies (Karypis et al. 2026, arXiv 2607.10134):
//
//   s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D),   R(p) rotates pair m by p a_m 10000^(-2m/D)
//
//   a: (D/2), 1 before training, in every layer; or (H, D/2), for each head                  pairs: (m, m + D/2)
// From the paper's abstract: "a scalar per frequency". The paper is said to share them among all layers and heads;
// here each layer has its own. Left out: sharing them, and separate learning rates for them.
#include "encodings/phases.h"
#include "encodings/rotary.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

struct LeRoPE : Phased {
  Tensor a;
  LeRoPE(const Params& p, const ModelShape& m, const Choices& c)
      : a(p.full("a", c.on("per_head") ? Shape{m.heads, m.head_dim() / 2} : Shape{m.head_dim() / 2}, 1)) {}

  Tensor angles(const Heads& in, const Positions& p) const override {
    return stretched_angles(p, "lerope", frequencies(in.k.dim(3)), a);
  }
};

}  // namespace

extern const SchemePages lerope_pages;
Scheme lerope() {
  return {.name = "lerope", .options = {{"per_head", false, "each head has its own frequencies"}},
          .reads = always(Reads::positions),
          .check = [](const ModelShape& m, const Choices&) { check_pairs("lerope", m); }, .make = layer_of<LeRoPE>,
          .pages = lerope_pages};
}

// -- for pages
const SchemePages lerope_pages = {
    .summary = "RoPE whose frequencies are learned",
    .about = R"(RoPE with a learned factor on each frequency. Before training it is RoPE; then each pair of
channels learns the speed at which it turns, separately in every layer.)",
    .formula = "s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D),   R(p) rotates pair m by p a_m 10000^(-2m/D)",
    .source = "Karypis et al. 2026", .doors = "2",
    .shows = always("The similarity of two equal contents after their rotations: the mean cosine of the angles between "
                    "them, 1 at the same position."),
    .pictures = {.matrix = equal_contents}};

}  // namespace poslab
