// Selective RoPE (2025, arXiv 2511.17388): the content of a token decides how far it rotates all tokens after it.
//
//   y_t = up down x^_t, x^: x with each head's channels of length 1     phi_t = conv4(y)_t, or y_t - y_{t-1}: skip_conv
//   angle_thm = T_m sum_{s <= t} phi_shm,   phi (+ e^b) (times sigmoid(x^ gate))     b: (H, D/2), gate: (C, H)
//   T_m = base^(-2m/D), or rfa: in proportion to tan(u_m / 2), u evenly from 0 to theta pi, the largest being 1
//
// Follows released code. Left out: a projection for each head with normed weights, other sizes of T and trained ones,
// gates of low rank.
#include <algorithm>
#include <cmath>
#include <numbers>

#include "encodings/phases.h"
#include "encodings/rotary.h"

namespace poslab {
namespace {

std::vector<double> pair_temperatures(int D, const Choices& c) {
  std::vector<double> t;
  for (int m = 0; m < D / 2; ++m)
    t.push_back(c["table"] == "rope" ? std::pow(c.number("base"), -2. * m / D)
                                     : std::tan(m * c.number("theta") * std::numbers::pi / (D - 2)));
  const double largest = *std::max_element(t.begin(), t.end());
  for (double& one : t) one /= largest;
  return t;
}

struct Selective : Phased {
  int C, H, D;
  Tensor down, up, conv, bias, gate, gate_b;
  std::vector<double> t;
  std::string key;

  Selective(const Params& p, const ModelShape& m, const Choices& c)
      : C(m.d_model), H(m.heads), D(m.head_dim()), t(pair_temperatures(D, c)),
        key(fmt::format("selective_rope {} {} {} {}", D, c["table"], c["base"], c["theta"])) {
    const int rank = c.whole("rank"), N = H * D / 2;
    down = p.truncated_normal("down", {C, rank}, 1 / std::sqrt(double(C)));
    up = p.truncated_normal("up", {rank, N}, 1 / std::sqrt(double(rank)));
    if (!c.on("skip_conv")) conv = p.uniform("conv", {4, N}, -0.5, 0.5);
    if (c.on("bias")) bias = p.full("bias", {N}, 0);
    if (c.on("gate")) {
      gate = p.truncated_normal("gate", {C, H}, 1 / std::sqrt(double(C)));
      gate_b = p.full("gate_b", {H}, 0);
    }
  }

  Tensor angles(const Heads& in, const Positions& p) const override {
    const int B = in.x_keys.dim(0), T = in.x_keys.dim(1);
    const Tensor x = unit(in.x_keys.reshape({B, T, C / D, D})).reshape({B, T, C});
    const Tensor y = linear(linear(x, down), up);                                       // (B, T, H D/2)
    Tensor phi = conv ? causal_conv(y, conv) : y - delay(y, 1);
    if (bias) phi = phi + exp(bias);
    phi = phi.reshape({B, T, H, D / 2});
    if (gate) phi = phi * sigmoid(linear(x, gate, gate_b)).reshape({B, T, H, 1});
    return scan(phi, 1) * constant(p, key, in.q.device(), {D / 2}, t);
  }
};

// The sum of the differences up to t is y_t, so the angles do not depend on order.
bool telescopes(const Choices& c) { return c.on("skip_conv") && !c.on("gate") && !c.on("bias"); }

}  // namespace

extern const SchemePages selective_rope_pages;
Scheme selective_rope() {
  return {.name = "selective_rope",
          .options = {{"rank", 16, {1, 4096}, "rank of the projection from states to angles"},
                      {"skip_conv", false, "differences of neighbours in place of the convolution"},
                      {"bias", false, "adds a learned positive angle to each step"},
                      {"gate", false, "a factor from 0 to 1 on each step, from the content"},
                      {"table", {"rope", "rfa"}, "factors of the pairs: powers, or those of random features"},
                      {"base", 500000., {1, 1e12}, "base of the factors of rope"},
                      {"theta", 0.995, {1e-3, 0.9999}, "how far the factors of rfa reach"}},
          .reads = [](const Choices& c) { return telescopes(c) ? Reads::nothing : Reads::slots; },
          .check = [](const ModelShape& m, const Choices& c) {
            check_pairs("selective_rope", m);
            if (c["table"] == "rfa" && m.head_dim() < 4)
              bad_input("selective_rope: with table = rfa the first factor is 0, and a head of {} channels has no "
                        "other; use table = rope, or 4 channels or more", m.head_dim());
          },
          .make = layer_of<Selective>,
          .laws = [](const ModelShape&, const Choices& c) -> Laws {
            return {.toeplitz = c.on("skip_conv"), .two_sided = telescopes(c), .permutes = telescopes(c)};
          },
          .pages = selective_rope_pages};
}

// -- for pages
const SchemePages selective_rope_pages = {
    .summary = "angles that are sums over the tokens so far",
    .about = R"(Each token rotates everything after it by angles that its content gives. Those of the tokens between
a query and a key add up to the angle between the two; a token that flips a state adds half a turn.)",
    .formula = "s_ij = (R_i q_i) . (R_j k_j) / sqrt(D),   R_t rotates pair m by T_m sum_{s <= t} phi_sm",
    .source = "arXiv 2511.17388", .doors = "2",
    .shows = always("The mean cosine of the angles between two slots, in a sequence of equal contents."),
    .pictures = {.matrix = equal_contents}};

}  // namespace poslab
