// Geometric attention with directional encoding (NDR, Csordas et al. 2022; spec A.1 (14)): the nearest matching key.
//
//   z_ij = alpha (q_i + c) . k_j + beta D_ij + gamma,   D_ij = f_i to the right, b_i to the left,   P = sigmoid(z)
//   a_ij = P_ij prod (1 - P_ik) over the keys k nearer than j (of two the right one is nearer), divided by its sum
//
//   f, b: two numbers a head, linear in the state x_i; c: (H, D); alpha, beta, gamma: scalars           in every layer
// Only the order of slots is read: samplers change nothing (spec A.2). Left out: NDR's copy gate and shared layers.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "autograd/tape.h"
#include "encodings/encoding.h"

namespace poslab {
namespace {

Tensor by_head(const Tensor& x) { return permute(x, {0, 2, 1, 3}); }     // (B, T, H, D) and (B, H, T, D)

struct Geometric : Encoding {
  struct Layer { Tensor c, alpha, beta, gamma, w, b; };
  std::vector<Layer> layers;
  bool causal;

  Geometric(const Params& p, const EncodingSpec& s) : causal(s.causal) {
    const int C = s.d_model, H = s.heads, D = s.head_dim();
    for (int n = 0; n < s.layers; ++n) {
      const Params layer = p / fmt::format("layer{}", n);
      layers.push_back({layer.full("c", {H, D}, 0), layer.full("alpha", {1}, 1 / std::sqrt(double(D))),
                        layer.full("beta", {1}, 1), layer.full("gamma", {1}, 0),
                        layer.truncated_normal("w", {C, 2 * H}, 1 / std::sqrt(double(C))), layer.full("b", {2 * H}, 0)});
    }
  }

  Tensor weights(const Heads& in, const Positions&, int layer, const Span& span) const override {
    const auto& [c, alpha, beta, gamma, w, b] = layers.at(size_t(layer));
    const int B = in.q.dim(0), T = in.q.dim(1), H = in.q.dim(2);
    const Tensor content = matmul(by_head((in.q + c) * alpha), permute(in.k, {0, 2, 3, 1}));    // (B, H, Tq, Tk)
    const Tensor side = linear(in.x, w * beta, b * beta + gamma).reshape({B, T, H, 2});         // beta (f, b) + gamma
    return geometric(content, by_head(side), span);
  }

  // The weights take B H Tq Tk numbers. A gradient needs them all; without one, a few sequences at a time will do.
  Tensor attend(const Heads& in, const Tensor& v, const Positions& p, int layer, const Span& span) const override {
    const int B = in.q.dim(0);
    const int64_t of_one = int64_t(in.q.dim(1)) * in.q.dim(2) * in.k.dim(1), most = 1 << 23;    // 32 MiB
    const int together = recording() ? B : int(std::clamp<int64_t>(most / of_one, 1, B));
    std::vector<Tensor> parts;
    for (int from = 0; from < B; from += together) {
      const auto part = [&](const Tensor& x) {
        return together == B ? x : slice(x, 0, from, std::min(from + together, B));
      };
      const Tensor a = weights({part(in.q), part(in.k), part(in.x)}, p, layer, span);
      parts.push_back(by_head(matmul(a, by_head(part(v)))));
    }
    return parts.size() == 1 ? parts[0] : concat(parts, 0);
  }

  // When the query asks: its right neighbour first, then the left one, the next on the right, ...; 0: never.
  double told(double, int slots) const override {
    if (causal) return std::max(-slots, 0);
    return slots > 0 ? 2 * slots - 1 : -2 * slots;
  }
};

}  // namespace

Scheme geometric() {
  return {"geometric", "each query takes the nearest key that matches; it reads the order, and no positions",
          "Csordas et al. 2022", false, [](Params p, const EncodingSpec& spec) { return std::make_unique<Geometric>(p, spec); }};
}

}  // namespace poslab
