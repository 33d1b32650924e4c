// RePo, context re-positioning (Li et al. 2025, arXiv 2512.14391): RoPE at positions that each head reads from content.
//
//   z_th = ( silu(x_t gate) * (x_t content) ) out        gate, content: (C, C/8), out: (C/8, H)
//   s_ij = (R(z_i) q_i) . (R(z_j) k_j) / sqrt(D),   R(z) rotates pair m by z 10000^(-2m/D)
//
// The released model has RePo from layer 5 of 16 on, RoPE before it, and base 500000. Here: rope|repo, layers in turn.
#include <algorithm>
#include <cmath>

#include "encodings/phases.h"
#include "encodings/rotary.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

struct RePo : Phased {
  Tensor gate, content, out;
  RePo(const Params& p, const ModelShape& m) {
    const int inner = std::max(1, m.d_model / 8);
    const double root = std::sqrt(double(m.d_model));
    gate = p.truncated_normal("gate", {m.d_model, inner}, 1 / root);
    content = p.truncated_normal("content", {m.d_model, inner}, 1 / root);
    out = p.truncated_normal("out", {inner, m.heads}, 1 / std::sqrt(double(inner)));
  }

  Tensor angles(const Heads& in, const Positions& p) const override {
    const int B = in.k.dim(0), T = in.k.dim(1), H = in.k.dim(2), D = in.k.dim(3);
    const Tensor f = constant(p, fmt::format("repo {}", D), in.q.device(), {D / 2}, frequencies(D));
    const Tensor z = linear(silu(linear(in.x_keys, gate)) * linear(in.x_keys, content), out);
    return z.reshape({B, T, H, 1}) * f;
  }
};

}  // namespace

extern const SchemePages repo_pages;
Scheme repo() {
  return {.name = "repo", .check = [](const ModelShape& m, const Choices&) { check_pairs("repo", m); },
          .make = [](Params p, const ModelShape& m, const Choices&, int) { return std::make_unique<RePo>(p, m); },
          .laws = always(Laws{.two_sided = true}), .pages = repo_pages};
}

// -- for pages
const SchemePages repo_pages = {
    .summary = "RoPE at positions that a small network reads from each token",
    .about = R"(A small network gives each token a position of its own, for each head, from its content alone; the
rest is RoPE at these positions. Where a token stands is not read. Without a causal mask or
layers of another scheme, the model therefore sees a bag of tokens.)",
    .formula = "s_ij = (R(z_i) q_i) . (R(z_j) k_j) / sqrt(D),   z_th = ( silu(x_t gate) * (x_t content) ) out",
    .source = "Li et al. 2025", .doors = "2",
    .shows = always("Equal contents are given equal positions, so all pairs look alike."),
    .pictures = {.matrix = equal_contents}};

}  // namespace poslab
