// BiPE (He et al. 2024, arXiv 2401.16421; github.com/zhenyuhe00/BiPE): the place in a segment, and its number.
//
//   h_i = x_i + table[p_i]                                           inside: p_i, counted within each segment
//   s_ij = (R(n_i) q_i) . (R(n_j) k_j) / sqrt(D)                     between: n_i = 0, 1, 2, ..., number of the segment
//   or     q_i . k_j / sqrt(D) - times m_h |n_i - n_j|               between=alibi, ALiBi's slopes m_h
//
// A segment begins where positions stop growing, p_i <= p_{i-1}; sampler restart makes such positions from the classes
// of tokens. As released: times = 96, and places beyond the last row share it. In the released code a full stop or new
// line ends its segment; restart makes a run of signs a segment of its own. inside=sincos is an extension.
#include <algorithm>
#include <cmath>

#include "encodings/by_distance.h"
#include "encodings/rotary.h"
#include "encodings/rows_at.h"
#include "encodings/sinusoid.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

// n_i: (S, T)
std::vector<double> segments(const Positions& p) {
  const std::vector<double>& at = p.tokens("bipe");
  std::vector<double> number;
  for (size_t t = 0; t < at.size(); ++t)
    number.push_back(t % size_t(p.time()) == 0 ? 0 : number.back() + (at[t] <= at[t - 1]));
  return number;
}

struct Between : Encoding {
  std::string name;
  Pairing pairing;
  std::vector<double> spectrum, slopes;   // for rope, for alibi; the other is empty
  Between(const ModelShape& m, const Choices& c) : name(c.spelled()), pairing(pairing_of(c)) {
    if (c["between"] == "rope") spectrum = frequencies(m.head_dim());
    else slopes = alibi_slopes(m.heads);
    for (double& slope : slopes) slope *= c.number("times");
  }

  Scores scores(const Heads& in, const Positions& p) const override {
    const Positions between = Positions::of_tokens(p.sequences(), segments(p));
    Scores s = Encoding::scores(in, p);
    if (slopes.empty()) {
      const Rotation all = rotation_by(p, between.tokens("bipe"), fmt::format("{} {}", name, in.q.dim(3)),
                                     in.q.device(), spectrum);
      s.pieces = {{rotate(in.q, last_slots(all, in.q.dim(1)), pairing), rotate(in.k, all, pairing)}};
      return s;
    }
    s.bias = distance_table(between, name, in.q.device(), int(slopes.size()),
                          [&](double d, int h) { return -slopes[size_t(h)] * std::abs(d); });
    s.pairs = between.distances().last_rows(in.q.dim(1));
    return s;
  }
};

PositionEmbedding inside(Params p, const ModelShape& m, const Choices& c) {
  if (c["inside"] == "sincos")
    return [](const Tensor& x, const Positions& at) {
      const Shape shape{at.sequences(), at.time(), x.dim(-1)};
      return x + sinusoid(at.tokens("bipe"), x.dim(-1), x.device()).reshape(shape);
    };
  return [table = p.normal("table", {c.whole("rows"), m.d_model}, 0.02), first = m.first](
             const Tensor& x, const Positions& at) {
    std::vector<double> row;
    for (const double position : at.tokens("bipe"))
      row.push_back(std::clamp(position - first, 0., table.dim(0) - 1.));
    return x + rows_at(table, row).reshape({at.sequences(), at.time(), x.dim(-1)});
  };
}

}  // namespace

extern const SchemePages bipe_pages;
Scheme bipe() {
  return {.name = "bipe",
          .options = {{"between", {"rope", "alibi"}, "how segments enter: by rotations, or by a penalty per segment"},
                      {"inside", {"learned", "sincos"}, "the vector for the place in a segment"},
                      {"rows", 1024, {16, 1 << 20}, "rows of the learned table; places beyond share the last"},
                      {"times", 96., {0.001, 10000}, "for alibi: a factor on ALiBi's slopes, as released"},
                      pairing_option()},
          .reads = always(Reads::positions),
          .check = [](const ModelShape& m, const Choices& c) {
            if (c["between"] == "rope") check_pairs("bipe", m);
            if (c["inside"] == "sincos") check_halves("bipe:inside=sincos", m.d_model);
          },
          .embed = inside,
          .make = [](Params, const ModelShape& m, const Choices& c,
                     int) { return std::make_unique<Between>(m, c); },
          .laws = always(Laws{.shift = false, .toeplitz = false, .permutes = false}), .pages = bipe_pages};
}

// -- for pages
const SchemePages bipe_pages = {
    .summary = "a learned vector for the place in a segment, and rotations or a penalty by the segment",
    .about = R"(Two levels: the place of a token in its segment is a vector added to the embedding, and RoPE or
ALiBi acts on the number of segments between two tokens. Longer strings have more segments
rather than longer ones. A segment begins where positions do not grow: use --positions restart,
which begins again in each run of digits, signs and empty slots. Positions that always grow are
one segment.)",
    .formula = "h_i = x_i + table[p_i],   s_ij = (R(n_i) q_i) . (R(n_j) k_j) / sqrt(D),   "
               "n_i: the number of the segment",
    .source = "He et al. 2024", .doors = "1, 2 or 3",
    .shows = always("The similarity of the vectors for two slots' places in their segments: the "
                    "cosine between them."),
    .pictures = {.distances = [](const ModelShape&, const Choices&, const Positions& p) {
                   const std::vector<double> at = segments(p);
                   return effective_distances({{.q = at, .k = at}}, p.time());
                 }}};

}  // namespace poslab
