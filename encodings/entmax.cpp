// Sparse weights in place of the softmax (Peters, Niculae, Martins 2019), over the logits of another scheme, `base`.
//
//   a_ij = max((alpha - 1) s_ij - tau_i, 0)^(1 / (alpha - 1)),   tau_i such that the weights of a query sum to 1
//
// alpha = 1.5, or 2, which is sparsemax. tau is exact: sorting finds how many keys get any weight, and tau follows
// from their mean and variance. NAPE with ASEntmax (2025) is base=nape and --temperature asentmax:heads=second_half.
// Left out: a learned alpha.
#include "autograd/composed.h"
#include "autograd/tape.h"
#include "encodings/explicit_weights.h"
#include "encodings/picture.h"

namespace poslab {
namespace {

// tau if exactly n keys get weight; their logits have mean m and mean square q
Tensor threshold(const Tensor& n, const Tensor& m, const Tensor& q, bool sparsemax) {
  return sparsemax ? m - 1 / n : m - sqrt(maximum(1 / n - (q - m * m), number(0, m)));
}

// 1 for the keys that get weight. x: (..., n), largest 0
Tensor support(const Tensor& x, bool sparsemax) {
  const NoGrad constant;
  const int n = x.dim(-1), axis = x.dims() - 1;
  const Tensor sorted = top_k(x, n).values, counts = scan(Tensor::full({n}, 1, x.device()), 0);
  const Tensor tau = threshold(counts, scan(sorted, axis) / counts, scan(sorted * sorted, axis) / counts, sparsemax);
  const Tensor many = sum(greater_equal(sorted, tau), -1);                           // how many keys get weight
  return greater_equal(x, sum(where(greater_equal(many, counts), sorted, number(0, x)) -
                              where(greater_equal(many, counts + 1), sorted, number(0, x)), -1));
}

Tensor entmax(const Tensor& logits, bool sparsemax) {
  const Tensor x = clamp((logits - max(logits).detach()) * (sparsemax ? 1 : 0.5), -2, 0);     // no weight below -1
  const Tensor in = support(x, sparsemax), n = sum(in, -1);
  const Tensor tau = threshold(n, sum(x * in, -1) / n, sum(x * x * in, -1) / n, sparsemax);
  const Tensor y = relu(x - tau) * in;
  return sparsemax ? y : y * y;
}

Chosen<Scheme> base(const Choices& c) { return choose_encoding(c["base"]); }

struct Entmax : WholeLogits {
  std::unique_ptr<Encoding> of;
  bool sparsemax;
  Entmax(std::unique_ptr<Encoding> of, bool sparsemax) : of(std::move(of)), sparsemax(sparsemax) {}

  Tensor pairs(const Heads& in, const Positions& p, const Span& span) const override {
    Heads plain = in;
    plain.temperature = {};
    return composed::logits(of->scores(plain, p), {.offset = span.offset});
  }
  Tensor weights(const Heads& in, const Positions& p, const Span& span) const override {
    const Tensor s = logits(in, p, span), may = seen(in, p, span);
    return entmax(where(may, s, number(-1e30, s)), sparsemax) * may;
  }
};

}  // namespace

extern const SchemePages entmax_pages;
Scheme entmax() {
  return {.name = "entmax",
          .options = {{"alpha", {"1.5", "2"}, "how sparse: 1 would be the softmax, 2 is sparsemax"},
                      {"base", {"none", "alibi", "rope", "relative", "nape"}, "the scheme of the logits"}},
          .reads = [](const Choices& c) { return reads(base(c)); },
          .check = [](const ModelShape& m, const Choices& c) {
            if (const Chosen<Scheme> s = base(c); s->check) s->check(m, s.choices);
          },
          .make = [](const auto& p, const ModelShape& m, const Choices& c, int layer) {
            const Chosen<Scheme> s = base(c);
            return std::make_unique<Entmax>(
                s->make ? s->make(p, m, s.choices, layer) : std::make_unique<Encoding>(), c["alpha"] == "2");
          },
          .laws = [](const ModelShape& m, const Choices& c) {
            const Chosen<Scheme> s = base(c);
            Laws all = s->laws(m, s.choices);
            all.softmax = false;
            all.toeplitz = c["base"] == "none" && !m.causal;   // fewer keys near the string's ends
            return all;
          },
          .pages = entmax_pages};
}

// -- for pages
static PairPicture of_base(const ModelShape& m, const Choices& c) {
  const PairPicture of = base(c)->pages.pictures.matrix(m, base(c).choices);
  return {of.quantity, [of](auto& e, auto& m, auto& p) { return of.values(*as<Entmax>(e).of, m, p); }};
}

const SchemePages entmax_pages = {
    .summary = "weights that are exactly 0 for keys far below the best, over the logits of another scheme",
    .about = R"(A softmax gives every key some weight, and over a long text these crumbs add up. Entmax gives
weight only to keys whose logits are near the best, and exactly 0 to the rest; alpha decides how
near. The logits are those of another scheme, none by default.)",
    .formula = "a_ij = max((alpha - 1) s_ij - tau_i, 0)^(1 / (alpha - 1)),   tau_i: so that they sum to 1",
    .source = "Peters et al. 2019", .doors = "4",
    .shows = [](const ModelShape& m, const Choices& c) { return base(c)->pages.shows(m, base(c).choices); },
    .pictures = {.matrix = of_base,
                 .frequencies = [](const ModelShape& m, const Choices& c, int slots, int head) {
                   const Chosen<Scheme> s = base(c);
                   const auto& of = s->pages.pictures.frequencies;
                   return of ? of(m, s.choices, slots, head) : std::vector<double>(size_t(m.head_dim() / 2), 0.);
                 }},
    .cost = {.matrices = always(20.), .live = always(15.)}};

}  // namespace poslab
