// Geometric attention with directional encoding (NDR, Csordas et al. 2022; spec A.1 (14)): the nearest matching key.
//
//   z_ij = alpha (q_i + c) . k_j + beta D_ij + gamma,   D_ij = f_i to the right, b_i to the left,   P = sigmoid(z)
//   (a temperature, which is not in the paper, multiplies z_ij as it multiplies logits elsewhere)
//   a_ij = P_ij prod (1 - P_ik) over the keys k nearer than j (right before left), divided by the sum over j
//
//   f, b: one number each per head, linear in x_i; c: (H, D); alpha, beta, gamma: scalars           in every layer
// Only the order of slots is read: samplers change nothing (spec A.2). Left out: NDR's copy gate and shared layers.
#include <cmath>

#include "encodings/explicit_weights.h"

namespace poslab {
namespace {

struct Geometric : ExplicitWeights {
  Tensor c, alpha, beta, gamma, w, b;

  Geometric(const Params& p, const ModelShape& m)
      : c(p.full("c", {m.heads, m.head_dim()}, 0)), alpha(p.full("alpha", {1}, 1 / std::sqrt(double(m.head_dim())))),
        beta(p.full("beta", {1}, 1)), gamma(p.full("gamma", {1}, 0)),
        w(p.truncated_normal("w", {m.d_model, 2 * m.heads}, 1 / std::sqrt(double(m.d_model)))),
        b(p.full("b", {2 * m.heads}, 0)) {}

  Tensor weights(const Heads& in, const Positions&, const Span& span) const override {
    const int B = in.q.dim(0), T = in.q.dim(1), H = in.q.dim(2);
    const Tensor content = matmul(by_head((in.q + c) * alpha), permute(in.k, {0, 2, 3, 1}));    // (B, H, Tq, Tk)
    const Tensor side = linear(in.x, w * beta, b * beta + gamma).reshape({B, T, H, 2});         // beta (f, b) + gamma
    if (!in.temperature) return geometric(content, by_head(side), span);
    const Tensor& f = in.temperature;
    const Tensor factor = f.reshape({f.dim(0), T, f.dim(2), 1});
    return geometric(content * by_head(factor), by_head(side * factor), span);
  }
};

}  // namespace

extern const SchemePages geometric_pages;
Scheme geometric() {
  return {.name = "geometric", .reads = always(Reads::slots),
          .make = [](Params p, const ModelShape& m, const Choices&, int) { return std::make_unique<Geometric>(p, m); },
          .laws = [](const ModelShape&, const Choices&) -> Laws {
            return {.toeplitz = false, .permutes = false, .softmax = false};  // fewer keys near the string's ends
          },
          .pages = geometric_pages};
}

// -- for pages
static std::string shows(const ModelShape& m, const Choices&) {
  if (m.causal)
    return "The order in which a query visits keys: its left neighbour is 1, the next on the left 2; never those on "
           "the right, nor itself (0). Positions are not read.";
  return "The order in which a query visits keys: its right neighbour is 1, the left one 2, the next on the "
         "right 3; where one side ends, the other goes on. Positions are not read.";
}

// A key's turn, 0 for never: a query visits its right neighbour first, then the left one, the next on the right, ...
static Tensor order_of_asking(const Encoding&, const ModelShape& m, const Positions& p) {
  std::vector<double> order;
  for (int i = 0; i < p.time(); ++i)
    for (int j = 0; j < p.time(); ++j)
      order.push_back(j <= i ? (m.causal ? 1 : 2) * (i - j) : m.causal ? 0 : 2 * (j - i) - 1);
  return Tensor::from({1, p.time(), p.time()}, order);
}

const SchemePages geometric_pages = {
    .summary = "each query takes the nearest key that matches; it reads the order of slots, not positions",
    .about = R"(Each query asks the keys one after the other, the nearest first, whether they match; the first
that says yes gets most of the weight. So the nearest match wins, at any distance. Only the order
of the slots is read: samplers change nothing.)",
    .formula = "a_ij = P_ij prod (1 - P_ik) over the keys k nearer than j, divided by their sum;   "
               "P = sigmoid(z), z_ij = alpha (q_i + c) . k_j + beta D_ij + gamma",
    .source = "Csordas et al. 2022", .doors = "4", .shows = shows,
    .pictures = {.matrix = always(PairPicture{Quantity::order, order_of_asking})},
    .cost = {.matrices = always(3.), .live = always(2.)}};

}  // namespace poslab
