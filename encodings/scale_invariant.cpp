// Scale-invariant attention (Anson et al. 2025): logits of far keys are scaled up and lowered, so that each stretch
// [t, 2t) of keys gets the same total weight on average, whatever the scale t.
//
//   s_ij = a_r q_i . k_j / sqrt(D) + 1 - a_r^2,   a_r^2 = 2 ln(r / tau + 1) + 1                r = |p_j - p_i|
//
// `of` puts the logits of another scheme in place of q_i . k_j / sqrt(D), as the paper does with RoPE. Written from a
// public note on the paper.
#include <algorithm>
#include <cmath>

#include "encodings/by_distance.h"
#include "encodings/explicit_weights.h"
#include "encodings/relative_vectors.h"

namespace poslab {
namespace {

// a_r and 1 - a_r^2 for each distance of p: (N, H)
struct Factors {
  Tensor gain, bias;
  Factors(const Positions& p, Device device, double tau, int heads) {
    const auto squared = [tau](double d) { return 2 * std::log(std::abs(d) / tau + 1) + 1; };
    const std::string name = fmt::format("scale_invariant {} {} ", heads, tau);
    gain = distance_table(p, name + "gain", device, heads, [&](double d, int) { return std::sqrt(squared(d)); });
    bias = distance_table(p, name + "bias", device, heads, [&](double d, int) { return 1 - squared(d); });
  }
};

// For a scheme whose logits fused attention computes.
struct ScaleInvariant : ByDistance {
  std::unique_ptr<Encoding> inner;
  int heads;
  double tau;
  ScaleInvariant(std::unique_ptr<Encoding> e, int h, double t) : inner(std::move(e)), heads(h), tau(t) {}

  Scores scores(const Heads& in, const Positions& p) const override {
    Scores s = inner->scores(in, p);
    rows(s, p, in.q.device());
    s.pairs = p.distances().last_rows(in.q.dim(1));
    return s;
  }
  void rows(Scores& s, const Positions& p, Device device) const override {
    const Factors f(p, device, tau, heads);
    s.gain = f.gain;  // none of the supported schemes has one
    s.bias = s.bias ? s.bias * f.gain + f.bias : f.bias;
  }
};

// For a scheme that makes whole logits.
struct ScaleInvariantWhole : WholeLogits {
  std::unique_ptr<Encoding> inner;
  double tau;
  ScaleInvariantWhole(std::unique_ptr<Encoding> e, double t) : inner(std::move(e)), tau(t) {}

  Tensor pairs(const Heads& in, const Positions& p, const Span& span) const override {
    const Factors f(p, in.q.device(), tau, 1);
    const int queries = in.q.dim(1), keys = in.k.dim(1);
    const Ids at = rows_of_pairs(p.distances(), queries, keys);                    // (1 or B, Tq, Tk)
    const auto of_pairs = [&](const Tensor& row) {
      return gather(row, at).reshape({at.shape()[0], 1, queries, keys});
    };
    const Heads plain{in.q, in.k, in.x, in.x_keys};
    return inner->logits(plain, p, {.offset = span.offset}) * of_pairs(f.gain) + of_pairs(f.bias);
  }
};

// "rerope/window=16", which is rerope:window=16
Chosen<Scheme> scheme_in(const Choices& c) {
  static const std::vector<std::string> fit = {"none", "relative", "alibi", "t5", "rope", "rerope"};
  std::string text = c["of"];
  if (const size_t slash = text.find('/'); slash != std::string::npos) text[slash] = ':';
  std::replace(text.begin(), text.end(), '/', ',');
  const Chosen<Scheme> s = choose_encoding(text);
  if (std::find(fit.begin(), fit.end(), s.thing.name) == fit.end())
    bad_input("scale_invariant: of = {}; it works with none, relative, alibi, t5, rope and rerope",
              c["of"]);
  return s;
}

std::unique_ptr<Encoding> spread_layer(const LayerParams& p, const ModelShape& m, const Choices& c, int n) {
  const Chosen<Scheme> s = scheme_in(c);
  ModelShape of_inner = m;
  if (s.thing.name == "rerope") of_inner.causal = false;  // -infinity at masked pairs times a factor of 0 is NaN
  std::unique_ptr<Encoding> inner = s->make ? s->make(p, of_inner, s.choices, n) : std::make_unique<Encoding>();
  const double tau = c.number("tau");
  if (dynamic_cast<const WholeLogits*>(inner.get()))
    return std::make_unique<ScaleInvariantWhole>(std::move(inner), tau);
  return std::make_unique<ScaleInvariant>(std::move(inner), m.heads, tau);
}

}  // namespace

extern const SchemePages scale_invariant_pages;
Scheme scale_invariant() {
  return {.name = "scale_invariant",
          .options = {{"tau", 10., {0.001, 1e6}, "the distance from which keys are treated as far"},
                      Option::text("of", "none", "scheme of the logits; its options follow slashes: rerope/window=16")},
          .reads =
              [](const Choices& c) {   // if the inner scheme reads a table of offsets, so does this one
                const Reads inner = reads(scheme_in(c));
                return has(inner, Reads::offset_table) ? inner : inner | Reads::distances;
              },
          .check = [](const ModelShape& m, const Choices& c) {
            const Chosen<Scheme> s = scheme_in(c);
            if (s->check) s->check(m, s.choices);
          },
          .make = spread_layer,
          .laws = [](const ModelShape& m, const Choices& c) {
            const Chosen<Scheme> s = scheme_in(c);
            Laws laws = s->laws(m, s.choices);
            laws.two_sided = c["of"] == "none";
            return laws;
          },
          .finite = [](const Choices& c) { return finite(scheme_in(c)); }, .pages = scale_invariant_pages};
}

// -- for pages
const SchemePages scale_invariant_pages = {
    .summary = "logits of far keys are scaled up and lowered, so that every scale weighs the same",
    .about = R"(The logit of a far key is multiplied by a number that grows with the distance, and lowered. If
logits were random, the keys from 100 to 200 away would together get about the weight of those from
1000 to 2000 away, yet single keys stand out at any distance. Nothing is learned, and both
sides are alike. `of` names the scheme that makes the logits: scale_invariant:of=rope.)",
    .formula = "s_ij = a_r q_i . k_j / sqrt(D) + 1 - a_r^2,   a_r^2 = 2 ln(|p_j - p_i| / tau + 1) + 1",
    .source = "Anson et al. 2025", .doors = "3",
    .shows = always("The bias added to the logits; q . k is multiplied by a factor too."),
    .unreached = [](const Choices& c, const Extent& e) {
      const Chosen<Scheme> s = scheme_in(c);
      return s->pages.unreached(s.choices, e);
    },
    .cost = {.matrices = [](const ModelShape& m, const Choices& c) {
               const Chosen<Scheme> s = scheme_in(c);
               return s->pages.cost.matrices(m, s.choices);
             }}};

}  // namespace poslab
