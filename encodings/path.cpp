// PaTH (Yang et al. 2025, arXiv 2505.16381): each token after the key, up to the query, reflects the key.
//
//   s_ij = q_i . H_i H_{i-1} ... H_{j+1} k_j / sqrt(D),   H_t = I - beta_t w_t w_t^T,   beta_t = 2 sigmoid(x_t v + b)
//   w_t = silu(conv3(x down up))_t of length 1 in each head        down: (C, rank), up: (rank, C), v: (C, H)
//   gate: + g_i - g_j, g_t the sum of ln sigmoid(x_s u + c) over s <= t; released code divides these by sqrt(D) as well
//
// reflect: beta = 2 exactly. Then P_t = H_t ... H_1 is orthogonal and s_ij = (P_i^T q_i) . (P_j^T k_j) / sqrt(D).
#include <cmath>

#include "encodings/explicit_weights.h"
#include "encodings/phases.h"

namespace poslab {
namespace {

struct Directions {
  int H, D;
  Tensor down, up, conv;
  Directions(const Params& p, const ModelShape& m, const Choices& c) : H(m.heads), D(m.head_dim()) {
    const int rank = c.whole("rank"), N = H * D;
    down = p.truncated_normal("down", {m.d_model, rank}, 1 / std::sqrt(double(m.d_model)));
    up = p.truncated_normal("up", {rank, N}, 1 / std::sqrt(double(rank)));
    conv = p.uniform("conv", {3, N}, -std::sqrt(1 / 3.), std::sqrt(1 / 3.));
  }
  Tensor operator()(const Tensor& x) const {                                             // (B, H, T, D)
    const Tensor w = silu(causal_conv(linear(linear(x, down), up), conv));
    return by_head(unit(w.reshape({x.dim(0), x.dim(1), H, D})));
  }
};

// Query by query: y = q_i; for j = i .. 0: s_ij = y . k_j, then y -= beta_j w_j (w_j . y). All queries are computed
// together.
struct PaTH : WholeLogits {
  Directions directions;
  Tensor v, b, u, c;
  bool scaled_gate;
  PaTH(const Params& p, const ModelShape& m, const Choices& choices)
      : directions(p, m, choices), scaled_gate(choices["gate"] == "released") {
    const double deviation = 1 / std::sqrt(double(m.d_model));
    v = p.truncated_normal("v", {m.d_model, m.heads}, deviation), b = p.full("b", {m.heads}, 0);
    if (choices["gate"] == "off") return;
    u = p.truncated_normal("u", {m.d_model, m.heads}, deviation), c = p.full("c", {m.heads}, 0);
  }

  Tensor pairs(const Heads& in, const Positions& p, const Span& span) const override {
    const int B = in.k.dim(0), Tq = in.q.dim(1), Tk = in.k.dim(1), H = in.k.dim(2);
    const auto head_by_slot = [&](const Tensor& x) { return permute(x, {0, 2, 1}).reshape({B, H, Tk, 1}); };
    const Tensor w = directions(in.x_keys), k = by_head(in.k);                           // (B, H, Tk, D)
    const Tensor beta = head_by_slot(sigmoid(linear(in.x_keys, v, b)) * 2);
    const Tensor passed = seen(in, p, {.causal = true, .offset = Tk - Tq, .key_lengths = span.key_lengths});
    Tensor y = by_head(in.q);                                                            // (B, H, Tq, D)
    std::vector<Tensor> s(static_cast<size_t>(Tk));
    for (int j = Tk - 1; j >= 0; --j) {
      const auto at_j = [&](const Tensor& x) { return slice(x, 2, j, j + 1); };
      s[size_t(j)] = matmul(y, transpose(at_j(k)));
      if (j) y = y - matmul(matmul(y, transpose(at_j(w))) * slice(passed, 3, j, j + 1) * at_j(beta), at_j(w));
    }
    const double scale = 1 / std::sqrt(double(in.q.dim(3)));
    Tensor logits = concat(s, 3) * scale;
    if (!u) return logits;
    const Tensor g = head_by_slot(scan(-softplus(-linear(in.x_keys, u, c)), 1));         // (B, H, Tk, 1)
    return logits + (slice(g, 2, Tk - Tq, Tk) - transpose(g)) * (scaled_gate ? scale : 1);
  }
};

// beta = 2: M_t = P_t^T = M_{t-1} H_t reflects queries and keys of slot t.
struct Mirrors : Encoding {
  Directions directions;
  Mirrors(const Params& p, const ModelShape& m, const Choices& c) : directions(p, m, c) {}

  Scores scores(const Heads& in, const Positions& p) const override {
    const int Tq = in.q.dim(1), Tk = in.k.dim(1), D = in.q.dim(3);
    const Tensor w = directions(in.x_keys);
    std::vector<double> identity(size_t(D) * size_t(D), 0);
    for (size_t d = 0; d < size_t(D); ++d) identity[d * size_t(D) + d] = 1;
    Tensor M = constant(p, fmt::format("identity {}", D), in.q.device(), {1, 1, D, D}, identity);
    std::vector<Tensor> q, k;                                                            // (B, H, D, 1)
    for (int t = 0; t < Tk; ++t) {
      const Tensor wt = slice(w, 2, t, t + 1);                                           // (B, H, 1, D)
      M = M - (t ? matmul(M, transpose(wt)) : transpose(wt)) * wt * 2;
      const auto reflected = [&](const Tensor& x, int slot) {
        return matmul(M, transpose(by_head(slice(x, 1, slot, slot + 1))));
      };
      k.push_back(reflected(in.k, t));
      if (t >= Tk - Tq) q.push_back(reflected(in.q, t - (Tk - Tq)));
    }
    Scores s = Encoding::scores(in, p);
    s.pieces[0] = {permute(concat(q, 3), {0, 3, 1, 2}), permute(concat(k, 3), {0, 3, 1, 2})};
    return s;
  }
};

}  // namespace

extern const SchemePages path_pages;
Scheme path() {
  return {.name = "path",
          .options = {{"rank", 32, {1, 4096}, "rank of the projection from states to directions"},
                      {"reflect", false, "beta = 2: every token reflects fully"},
                      {"gate", {"off", "paper", "released"}, "a forgetting gate; released code scales it like q . k"}},
          .reads = always(Reads::slots),
          .check = [](const ModelShape&, const Choices& c) {
            if (c.on("reflect") && c["gate"] != "off")
              bad_input("path: reflect has no gate, but gate is {}; leave one of them out", c["gate"]);
          },
          .make = [](Params p, const ModelShape& m, const Choices& c, int) -> std::unique_ptr<Encoding> {
            if (c.on("reflect")) return std::make_unique<Mirrors>(p, m, c);
            return std::make_unique<PaTH>(p, m, c);
          },
          .laws = [](const ModelShape&, const Choices&) -> Laws {
            return {.toeplitz = false, .permutes = false};  // the convolution starts at the first slot
          },
          .causal_only = [](const Choices& c) -> std::string {
            return c.on("reflect") ? "" : "its products run from a key to a later query";
          },
          .pages = path_pages};
}

// -- for pages
const SchemePages path_pages = {
    .summary = "each token reflects, by its content, what passes from keys to queries",
    .about = R"(Between a key and a query each token may reflect the key's vector, along a direction of its own:
fully, partly or not at all. So one head can count tokens of one kind modulo 2, or follow things
that change places. It takes a sweep over the keys for each query; with beta = 2 (option reflect)
reflected queries and keys suffice, even without a mask.)",
    .formula = "s_ij = q_i . H_i ... H_{j+1} k_j / sqrt(D),   H_t = I - beta_t w_t w_t^T",
    .source = "Yang et al. 2025", .doors = "3, or 2",
    .shows = always("The logit of equal contents, in a sequence of equal contents."),
    .pictures = {.matrix = equal_contents},
    .cost = {.matrices = [](const ModelShape& m, const Choices& c) { return c.on("reflect") ? 0. : 3. * m.head_dim(); },
             .of_slots =  // M_t, the two products that form it, and vectors that lead to w_t, q_t and k_t
             [](const ModelShape& m, const Choices& c) {
               return c.on("reflect") ? m.head_dim() * (3. * m.head_dim() + 14) : 0.;
             },
             .live = [](const ModelShape&, const Choices& c) { return c.on("reflect") ? 0. : 3.; }}};

}  // namespace poslab
