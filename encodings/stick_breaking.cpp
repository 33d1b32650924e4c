// Stick-breaking attention (Tan et al. 2025): the nearest key takes its share, the next one its share of the rest, ...
//
//   a_ij = beta_ij prod (1 - beta_ik) over j < k < i,   beta = sigmoid(q . k / sqrt(D)),   j < i
//
// A query skips its own slot. The rest, prod (1 - beta_ik) over all k < i, is lost, or goes to the query's
// own value, or to a learned vector of the head (b: (H, D)). It is geometric attention, one-sided and not normalized.
#include "encodings/explicit_weights.h"
#include "encodings/picture.h"

namespace poslab {
namespace {

struct StickBreaking : ExplicitWeights {
  bool own;
  Tensor b;
  StickBreaking(const Params& p, const ModelShape& m, const Choices& c)
      : own(c["rest"] == "own"), b(c["rest"] == "vector" ? p.full("b", {m.heads, m.head_dim()}, 0) : Tensor()) {}

  Tensor weights(const Heads& in, const Positions& p, const Span& span) const override {
    const Tensor z = at_temperature(products(in), in);
    Span before = span;
    before.offset -= 1;
    const Tensor asked = seen(in, p, before);                                        // j < i
    const Tensor passed = -softplus(z) * asked;                                      // ln(1 - beta)
    const Tensor left = scan(passed, 3, {.exclusive = true, .reverse = true});
    const Tensor a = exp(left - softplus(-z)) * asked;
    return own ? a + (seen(in, p, span) - asked) * exp(sum(passed, -1)) : a;
  }
  Tensor mix(const Tensor& a, const Tensor& v, const Positions& p) const override {
    const Tensor o = ExplicitWeights::mix(a, v, p);
    return b ? o + (1 - sum(a, -1)) * b.reshape({b.dim(0), 1, b.dim(1)}) : o;
  }
};

}  // namespace

extern const SchemePages stick_breaking_pages;
Scheme stick_breaking() {
  return {.name = "stick_breaking",
          .options = {{"rest", {"nothing", "own", "vector"}, "where the remaining weight goes"}},
          .reads = always(Reads::slots), .make = layer_of<StickBreaking>,
          .laws = [](const ModelShape&, const Choices& c) -> Laws {  // the rest depends on the number of keys
            return {.toeplitz = false, .permutes = false, .softmax = false, .sums_to_1 = c["rest"] == "own"};
          },
          .causal_only = always("a query asks only the keys before it"), .pages = stick_breaking_pages};
}

// -- for pages
const SchemePages stick_breaking_pages = {
    .summary = "the nearest key takes its share, the next one a share of what it leaves; the rest is lost",
    .about = R"(A query asks the keys before it, the nearest first. Each takes a share of what those asked
earlier have left, so the nearest match wins and no position is needed. The weights need not sum to
1: what remains is lost, or goes to the query's own value (rest=own) or to a learned vector.)",
    .formula = "a_ij = beta_ij prod (1 - beta_ik) over j < k < i,   beta_ij = sigmoid(q_i . k_j / sqrt(D))",
    .source = "Tan et al. 2025", .doors = "4", .shows = always("The weights where every beta is 1/2."),
    .pictures = {.matrix = always(PairPicture{Quantity::weight, [](auto& e, auto& m, auto& p) {
      return e.weights(all_alike(m, p.time(), 0), p, {.causal = true}).reshape({m.heads, p.time(), p.time()});
    }})},
    .cost = {.matrices = always(9.), .live = always(8.)}};

}  // namespace poslab
