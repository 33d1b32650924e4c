// CARoPE, context-aware RoPE (Veisi et al. 2025, arXiv 2507.23083): each token sets the speed of a head's rotation.
//
//   f_h(x) = 1 / (softplus(x . w_h) + 1), between 0 and 1
//   angle_thm = sum_{s <= t} f_h(x_s)^m, m = 1 .. D/2                                                      w: (C, H)
//
// If f is the constant 10000^(-2/D), these are RoPE's angles from its second pair on.
#include <cmath>

#include "encodings/phases.h"
#include "encodings/rotary.h"

namespace poslab {
namespace {

struct CARoPE : Phased {
  Tensor w;
  CARoPE(const Params& p, const ModelShape& m)
      : w(p.truncated_normal("w", {m.d_model, m.heads}, 1 / std::sqrt(double(m.d_model)))) {}

  Tensor angles(const Heads& in, const Positions& p) const override {
    const int B = in.k.dim(0), T = in.k.dim(1), H = in.k.dim(2), pairs = in.k.dim(3) / 2;
    std::vector<double> powers;
    for (int m = 1; m <= pairs; ++m) powers.push_back(-m);
    const Tensor log_of_inverse = log(softplus(linear(in.x_keys, w)) + 1).reshape({B, T, H, 1});
    const Tensor m = constant(p, fmt::format("carope {}", pairs), in.q.device(), {pairs}, powers);
    return scan(exp(log_of_inverse * m), 1);
  }
};

}  // namespace

extern const SchemePages carope_pages;
Scheme carope() {
  return {.name = "carope", .reads = always(Reads::slots),
          .check = [](const ModelShape& m, const Choices&) { check_pairs("carope", m); },
          .make = [](Params p, const ModelShape& m, const Choices&, int) { return std::make_unique<CARoPE>(p, m); },
          .laws = always(Laws{.permutes = false}), .pages = carope_pages};
}

// -- for pages
const SchemePages carope_pages = {
    .summary = "rotations whose speed each token sets, for each head",
    .about = R"(As in RoPE, queries and keys are rotated in pairs of channels, but the content of each token sets
how far all that follows is rotated: a head computes a speed between 0 and 1 from the token, and the
pairs turn by the powers of this speed. Only the order of slots is read, no positions.)",
    .formula = "s_ij = (R_i q_i) . (R_j k_j) / sqrt(D),   R_t rotates pair m by sum_{s <= t} f(x_s)^m,   "
               "f(x) = 1 / (softplus(x . w_h) + 1)",
    .source = "Veisi et al. 2025", .doors = "2",
    .shows = always("The mean cosine of the angles between two slots, in a sequence of equal contents."),
    .pictures = {.matrix = equal_contents}};

}  // namespace poslab
