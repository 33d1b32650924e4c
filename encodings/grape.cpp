// GRAPE (Zhang et al. 2026, arXiv 2512.07805): positions act through a group, so that logits depend on p_i - p_j.
//
//   m:   R(p) rotates channels m and m + D/2 by p f_m e^(o_m), f_m = 10000^(-2m/D): RoPE where o, (D/2), is 0
//   a:   + (p_j - p_i) ln(1 + e^w_h) slope_h ( softplus(v_h . q_i / sqrt(D)) + softplus(u_h . k_j / sqrt(D)) )
//   ap:  + slope_h sum over slots s of j+1 .. i of ln sigmoid(b_i . R(-p_s) b^_s / width), b = x W, b^ of size 1 (RMS)
//
// As in released code: slopes of ALiBi, |u_h| = |v_h| = 1. a: gates of queries and keys. ap: R rotates only keys,
// so absolute positions leak in; turns=both rotates b_i too. Left out: learned planes, phases from the content, tied b.
#include <cmath>

#include "encodings/by_distance.h"
#include "encodings/explicit_weights.h"
#include "encodings/phases.h"
#include "encodings/rotary.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

struct Multiplied : Phased {
  Tensor o;
  Multiplied(const Params& p, const ModelShape& m) : o(p.full("o", {m.head_dim() / 2}, 0)) {}
  Tensor angles(const Heads& in, const Positions& p) const override {
    return stretched_angles(p, "grape", frequencies(in.k.dim(3)), exp(o));
  }
};

// The bias (p_j - p_i)(g_i + g_j), times the slope, is a product of four more channels:
//   [-p_i g_i, -p_i, g_i, 1] . [1, g_j, p_j, p_j g_j]
// The four terms are as large as p and nearly cancel, so p counts from the first position: the rounding error of
// a logit is that of the largest bias in the string, however large positions are.
struct Added : Encoding {
  int H;
  Tensor w, u, v;
  Added(const Params& p, const ModelShape& m)
      : H(m.heads), w(p.full("w", {H, 1}, std::log(std::expm1(1.)))),
        u(p.normal("u", {H, m.head_dim()}, 1 / std::sqrt(double(m.head_dim())))),
        v(p.normal("v", {H, m.head_dim()}, 1 / std::sqrt(double(m.head_dim())))) {}

  Scores scores(const Heads& in, const Positions& p) const override {
    const int B = in.k.dim(0), Tq = in.q.dim(1);
    const double root = std::sqrt(double(in.q.dim(3)));
    const Tensor slope = constant(p, fmt::format("grape slopes {}", H), in.q.device(), {H, 1}, alibi_slopes(H));
    const Tensor rate = softplus(w) * slope;                                             // (H, 1)
    const Shape slots{p.sequences(), p.time(), 1, 1};
    std::vector<double> from_first = p.tokens("grape");
    for (size_t n = from_first.size(); n-- > 0;) from_first[n] -= from_first[n - n % size_t(p.time())];
    const Tensor all = constant(p, "grape positions", in.q.device(), slots, from_first);
    const auto channels = [&](const Tensor& x, const Tensor& by, int time, const auto& of) {
      const Tensor gate = softplus(sum(x * unit(by), -1) / root);                        // (B, T, H, 1)
      const Tensor ones = Tensor::full({B, time, H, 1}, 1, in.q.device());
      return of(gate, ones * last_slots(all, time), ones);
    };
    const Tensor q = channels(in.q, v, Tq, [&](const Tensor& g, const Tensor& at, const Tensor& one) {
      return concat({-at * g, -at, g, one}, 3) * rate * root;                            // s.scale has 1 / root
    });
    const Tensor k = channels(in.k, u, in.k.dim(1), [&](const Tensor& g, const Tensor& at, const Tensor& one) {
      return concat({one, g, at, at * g}, 3);
    });
    Scores s = Encoding::scores(in, p);
    s.pieces[0] = {concat({in.q, q}, 3), concat({in.k, k}, 3)};
    return s;
  }
};

struct AddedAlongThePath : WholeLogits {
  int H, width;
  bool both;
  Tensor w;
  AddedAlongThePath(const Params& p, const ModelShape& m, const Choices& c)
      : H(m.heads), width(2 * c.whole("pairs")), both(c["turns"] == "both"),
        w(p.truncated_normal("w", {m.d_model, H * width}, 1 / std::sqrt(double(m.d_model)))) {}

  Tensor pairs(const Heads& in, const Positions& p, const Span& span) const override {
    const int B = in.k.dim(0), Tq = in.q.dim(1), Tk = in.k.dim(1);
    const Rotation back = rotation_by(p, "grape", fmt::format("grape {}", width), in.q.device(),
                                    std::vector<double>(size_t(width) / 2, -1));
    const Tensor b = linear(in.x_keys, w).reshape({B, Tk, H, width});
    const Tensor keys = rotate(rms_norm(b, Tensor::full({width}, 1, b.device()), 1e-6), back, Pairing::half);
    const Tensor queries = last_slots(both ? rotate(b, back, Pairing::half) : b, Tq);
    const Tensor z = matmul(by_head(queries), permute(keys, {0, 2, 3, 1})) / width;      // (B, H, Tq, Tk)
    const Tensor slope = constant(p, fmt::format("grape slopes {}", H), in.q.device(), {H, 1}, alibi_slopes(H));
    const Tensor past = seen(in, p, {.causal = true, .offset = Tk - Tq, .key_lengths = span.key_lengths});
    const Tensor steps = -softplus(-z) * past * slope.reshape({H, 1, 1});
    return products(in) + scan(steps, 3, {.exclusive = true, .reverse = true});
  }
};

bool absolute(const Choices& c) { return c["form"] == "ap" && c["turns"] == "keys"; }

}  // namespace

extern const SchemePages grape_pages;
Scheme grape() {
  return {.name = "grape",
          .options = {{"form", {"m", "a", "ap"}, "rotations, a gated bias, or a bias summed along the path"},
                      {"turns", {"keys", "both"}, "ap: R turns only keys, as released (positions leak in), or both"},
                      {"pairs", 4, {1, 512}, "for ap: pairs of channels that a head compares"}},
          .reads = [](const Choices& c) {
            return c["form"] == "ap" ? Reads::positions | Reads::slots : Reads::positions;
          },
          .check = [](const ModelShape& m, const Choices& c) {
            if (c["form"] == "m") check_pairs("grape", m);
          },
          .make = [](Params p, const ModelShape& m, const Choices& c, int) -> std::unique_ptr<Encoding> {
            if (c["form"] == "a") return std::make_unique<Added>(p, m);
            if (c["form"] == "ap") return std::make_unique<AddedAlongThePath>(p, m, c);
            return std::make_unique<Multiplied>(p, m);
          },
          .laws = [](const ModelShape&, const Choices& c) -> Laws {
            return {.shift = !absolute(c), .toeplitz = !absolute(c), .permutes = c["form"] != "ap"};
          },
          .causal_only = [](const Choices& c) -> std::string {
            return c["form"] == "m" ? "" : "its bias is for keys before the query";
          },
          .pages = grape_pages};
}

// -- for pages
const SchemePages grape_pages = {
    .summary = "one group law: rotations with learned frequencies, or biases that add up",
    .about = R"(Three members of a family in which positions act on queries and keys through a group. form=m is RoPE
with learned frequencies; form=a is ALiBi whose slope each query and key scales by its content;
form=ap adds up penalties, one for each slot from key to query, set by the query and that slot.)",
    .formula = "m: s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D);   a: q_i . k_j / sqrt(D) + (p_j - p_i) slope_h "
               "(g(q_i) + g(k_j));   ap: q_i . k_j / sqrt(D) + slope_h sum_{s = j+1..i} ln sigmoid(z_is)",
    .source = "Zhang et al. 2026", .doors = "2 or 3",
    .shows = [](const ModelShape&, const Choices& c) -> std::string {
      if (c["form"] == "m") return "The mean cosine of the angles between the rotations of two slots.";
      return "The term added to the logit of a pair, where all contents are 0.";
    },
    .pictures = {.matrix = [](auto& m, auto& c) {
      return c["form"] == "m" ? equal_contents(m, c) : zero_contents(m, c);
    }},
    .cost = {.matrices = [](const ModelShape&, const Choices& c) { return c["form"] == "ap" ? 8. : 0.; }}};

}  // namespace poslab
