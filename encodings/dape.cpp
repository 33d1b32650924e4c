// DAPE (Zheng et al. 2024): a small network reads the logits of all heads for a pair and corrects the pair's bias.
//
//   s = A + B + f([A; B])        A_ij = q_i . k_j / sqrt(D), B: a bias by distance, f: 2H -> width -> H, leaky ReLU
//
//   base=kerple: B = -p_h ln(1 + a_h |d|), p, a: (H);   base=alibi: B = -m_h |d|
// version=2: both layers of f are convolutions along the keys, over logits that are 0 where masked. The released code
// does not mask between the two, so a query can tell how many keys follow it (border=released). Left out: FIRE as base.
#include <cmath>

#include "encodings/explicit_weights.h"
#include "encodings/relative_vectors.h"

namespace poslab {
namespace {

// (B, Tq, Tk, c) -> (B, Tq, Tk, width c): each key with its neighbours, 0 beyond the ends
Tensor neighbours(const Tensor& x, int width) {
  const int keys = x.dim(2), side = width / 2;
  if (side == 0) return x;
  const Tensor zeros = Tensor::full({x.dim(0), x.dim(1), side, x.dim(3)}, 0, x.device());
  const Tensor wide = concat({zeros, x, zeros}, 2);
  std::vector<Tensor> all;
  for (int n = 0; n < width; ++n) all.push_back(slice(wide, 2, n, n + keys));
  return concat(all, 3);
}

struct DAPE : WholeLogits {
  int stretch;                                     // 1 in version 1
  bool sum, masks, masks_between;
  Tensor p, a, w1, b1, w2;
  std::unique_ptr<Encoding> alibi;

  DAPE(const Params& at, const ModelShape& m, const Choices& c, std::unique_ptr<Encoding> given)
      : stretch(c["version"] == "1" ? 1 : std::stoi(c["kernel"])), sum(c["input"] == "sum"),
        masks(c["version"] == "2"), masks_between(masks && c["border"] == "masked"),
        alibi(std::move(given)) {
    if (!alibi) p = at.uniform("p", {m.heads}, 0, 2), a = at.uniform("a", {m.heads}, 0, 1);
    const int in = stretch * (sum ? 1 : 2) * m.heads, width = c.whole("width");
    const auto uniform = [&](const char* name, Shape shape, int fan) {
      return at.uniform(name, std::move(shape), -1 / std::sqrt(double(fan)), 1 / std::sqrt(double(fan)));
    };
    w1 = uniform("w1", {in, width}, in), b1 = uniform("b1", {width}, in);
    w2 = uniform("w2", {stretch * width, m.heads}, stretch * width);   // a second b would change no weight
  }

  Tensor bias(const Heads& in, const Positions& at) const {                          // (1 or B, H, Tq, Tk)
    const Distances& d = at.distances();
    const Ids pairs = rows_of_pairs(d, in.q.dim(1), in.k.dim(1));
    if (alibi) return at_pairs(alibi->scores(in, at).bias, pairs);
    const Tensor far = at.once("dape |d|", in.q.device(), [&](Device device) {       // (N, 1)
      std::vector<double> rows;
      for (double x : d.rows(device)) rows.push_back(std::abs(x));
      return Tensor::from({int(rows.size()), 1}, rows).to(device);
    });
    const Tensor least = number(0.01, p);
    return at_pairs(log(1 + far * maximum(a, least)) * -maximum(p, least), pairs);
  }

  Tensor pairs(const Heads& in, const Positions& at, const Span& span) const override {
    const Tensor A = products(in), B = bias(in, at), both = A + B;
    Tensor x = permute(sum ? both : concat({A, B + Tensor::full(A.shape(), 0, A.device())}, 1), {0, 2, 3, 1});
    Tensor may;                                                                      // (1 or B, Tq, Tk, 1)
    if (masks) may = permute(seen(in, at, span), {0, 2, 3, 1}), x = x * may;
    const Tensor h = linear(neighbours(x, stretch), w1, b1);
    Tensor y = h * maximum(greater_equal(h, number(0, h)), number(0.01, h));                   // the slope, 1 or 0.01
    if (masks_between) y = y * may;
    return both + permute(linear(neighbours(y, stretch), w2), {0, 3, 1, 2});
  }
};

}  // namespace

extern const SchemePages dape_pages;
Scheme dape() {
  return {.name = "dape",
          .options = {{"version", {"1", "2"}, "a network for each pair, or a convolution along the keys"},
                      {"base", {"kerple", "alibi"}, "the bias that is corrected"},
                      {"width", 32, {1, 4096}, "width of the hidden layer"},
                      {"kernel", {"3", "5", "7"}, "keys that version 2 sees at once"},
                      {"input", {"both", "sum"}, "content and bias concatenated, or their sum"},
                      {"border", {"masked", "released"}, "version 2: whether its hidden layer is masked too"}},
          .reads = always(Reads::distances),
          .make = [](const auto& p, const ModelShape& m, const Choices& c, int layer) {
            const Chosen<Scheme> s = choose_encoding("alibi:symmetric,mode=differences");
            const bool alibi = c["base"] == "alibi";
            return std::make_unique<DAPE>(p, m, c, alibi ? s->make(p, m, s.choices, layer) : nullptr);
          },
          .laws = [](const ModelShape& m, const Choices& c) -> Laws {
            if (c["version"] == "1") return {.two_sided = !m.causal};
            return {.toeplitz = false, .permutes = false, .by_length = c["border"] == "released"};
          },
          .pages = dape_pages};
}

// -- for pages
const SchemePages dape_pages = {
    .summary = "a bias by distance that a small network corrects from the logits of all heads",
    .about = R"(The bias of a pair begins as that of KERPLE or ALiBi. A small network then sees, for that pair,
what all heads think of it by content and by distance, and adds a correction. Version 2 lets it see
the neighbouring keys too.)",
    .formula = "s = A + B + f([A; B]),   A = q . k / sqrt(D), B: a bias by distance, f: 2H -> width -> H",
    .source = "Zheng et al. 2024", .doors = "3",
    .shows = always("The term added to the logit of a pair whose content is 0."),
    .cost = {.matrices = [](const ModelShape& m, const Choices& c) { return 8 + 6. * c.whole("width") / m.heads; },
             .live = [](const ModelShape& m, const Choices& c) { return 5 + 4. * c.whole("width") / m.heads; }}};

}  // namespace poslab
