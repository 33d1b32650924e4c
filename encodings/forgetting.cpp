// Forgetting gates (FoX, Lin et al. 2025; data-dependent ALiBi of x-transformers):
//
//   s_ij = q_i . k_j / sqrt(D) + sum of f_t over the slots t after j up to i       f_t = ln sigmoid(w_h . x_t + b_h)
//
//   w: (C, H), b: (H) in every layer, twice that without a mask, where the right side has gates of its own
// Left out: the output gate and the norms of FoX's block.
#include "encodings/forgetting.h"

#include <cmath>

#include "encodings/picture.h"

namespace poslab {

ForgettingGates::ForgettingGates(const Params& p, const ModelShape& m, bool content, double b, int sign, bool scaled)
    : sign_(sign), causal_(m.causal), scaled_(scaled) {
  const int n = m.causal || !content ? m.heads : 2 * m.heads;
  const double bound = 1 / std::sqrt(double(m.d_model));
  if (content) w_ = p.uniform("w", {m.d_model, n}, -bound, bound);
  b_ = p.full("b", {n}, b);
}

Scores ForgettingGates::scores(const Heads& in, const Positions& p) const {
  const int B = in.q.dim(0), Tq = in.q.dim(1), Tk = in.k.dim(1), H = in.q.dim(2);
  Scores s = Encoding::scores(in, p);
  if (!scaled_) s.scale = 1;
  const Tensor z = w_ ? linear(in.x_keys, w_, b_) : b_ + Tensor::full({B, Tk, 1}, 0, b_.device());
  const Tensor sums = scan(-softplus(z * -sign_), 1);                                // (B, Tk, H or 2 H)
  const Tensor ones = Tensor::full({B, Tk, H, 1}, 1, sums.device());
  const auto piece = [&](bool right, int from, int to) -> Piece {
    const int first = right ? sums.dim(2) - H : 0;
    const Tensor c = slice(sums, 2, first, first + H).reshape({B, Tk, H, 1}) * (right ? -1 : 1);
    return {concat({in.q, slice(ones, 1, 0, Tq), slice(c, 1, Tk - Tq, Tk)}, 3),
            concat({in.k, c * (-1 / s.scale), ones * (1 / s.scale)}, 3), from, to};
  };
  s.pieces = {piece(false, -far, 1)};
  if (!causal_) s.pieces.push_back(piece(true, 1, far));
  return s;
}

extern const SchemePages forgetting_pages;
Scheme forgetting() {
  return {.name = "forgetting",
          .options = {{"init", 5., {-5, 6}, "b_h before training: at 5 a token keeps 99.3 %"},
                      {"content", true, "gates read the content; off: one learned gate per head, for both sides"}},
          .reads = always(Reads::slots),
          .make = [](Params p, const ModelShape& m, const Choices& c, int) {
            return std::make_unique<ForgettingGates>(p, m, c.on("content"), c.number("init"), 1);
          },
          .laws = [](const ModelShape& m, const Choices& c) -> Laws {
            return {.two_sided = !m.causal && !c.on("content"), .permutes = false};
          },
          .pages = forgetting_pages};
}

// -- for pages
Tensor ForgettingGates::bias_of_zero_states(const ModelShape& m, const Positions& p) const {
  const int T = p.time(), H = m.heads;
  const std::vector<real> b = b_.values();
  std::vector<double> bias;
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < T; ++i)
      for (int j = 0; j < T; ++j) {
        const double gate = double(b[j > i ? b.size() - size_t(H - h) : size_t(h)]) * sign_;
        bias.push_back(-std::abs(i - j) * std::log1p(std::exp(-gate)));
      }
  return Tensor::from({H, T, T}, bias);
}

PairPicture gate_picture(const ModelShape&, const Choices&) {
  return {Quantity::added, [](auto& e, auto& m, auto& p) { return as<ForgettingGates>(e).bias_of_zero_states(m, p); }};
}

const SchemePages forgetting_pages = {
    .summary = "gates in the tokens between a query and a key decide how much of the key is forgotten (FoX)",
    .about = R"(Each token has a gate between 0 and 1 for each head, computed from its content: how much of the
earlier tokens is kept. A key's share is multiplied by all gates after it up to the query. With a
constant gate this is ALiBi. Without a mask the keys on the right have gates of their own. Positions
are not read, only the order.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) + sum of f_t over the slots t after j up to i,   "
               "f_t = ln sigmoid(w_h . x_t + b_h)",
    .source = "Lin et al. 2025", .doors = "2", .shows = always("The bias of tokens whose states are 0."),
    .pictures = {.matrix = gate_picture}};

}  // namespace poslab
