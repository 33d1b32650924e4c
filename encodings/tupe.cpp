// TUPE (Ke, He, Liu 2021), the absolute form: positions meet positions, content meets content, and nothing else.
//
//   s_ij = ( q_i . k_j + (U_Q t_i) . (U_K t_j) ) / sqrt(2 D),   t_i = norm(table[p_i - first])
//
//   table: (N, C), U_Q, U_K: (C, C), in every layer (published: one set for all layers). table=sincos: sinusoid(p_i).
// It is door 2 with twice the channels. Left out: the untied [CLS] symbol, and TUPE-R's bias, which is T5's.
#include <cmath>

#include "encodings/encoding.h"
#include "encodings/relative_vectors.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

struct TUPE : Encoding {
  int C, D, first, pool;
  Tensor table, gain, bias, of_queries, of_keys;
  TUPE(const Params& p, const ModelShape& m, const Choices& c)
      : C(m.d_model), D(m.head_dim()), first(m.first), pool(m.pool) {
    if (c["table"] == "learned") table = p.normal("table", {pool, C}, 0.02);
    gain = p.full("gain", {C}, 1), bias = p.full("bias", {C}, 0);
    const double std = 1 / std::sqrt(double(C));
    of_queries = p.truncated_normal("queries", {C, m.heads * D}, std);
    of_keys = p.truncated_normal("keys", {C, m.heads * D}, std);
  }

  // norm(t): (1 or B, T, C)
  Tensor codes(const Positions& p, Device device) const {
    const std::vector<double>& at = p.tokens("tupe");
    if (!table) return norm(sinusoid(at, C, device).reshape({p.sequences(), p.time(), C}), gain, bias);
    std::vector<double> row;
    for (double x : at) {
      if (x < first || x > first + pool - 1)
        bad_input("tupe: position {} is not in the table of {} rows from position {} on; {}", x, pool, first,
                  x < first ? "use larger positions" : "raise max_position");
      row.push_back(x - first);
    }
    return norm(rows_at(table, row).reshape({p.sequences(), p.time(), C}), gain, bias);
  }

  Scores scores(const Heads& in, const Positions& p) const override {
    const Tensor t = codes(p, in.q.device());
    const auto beside = [&](const Tensor& x, const Tensor& u) {                      // (B, T, H, 2 D)
      const int T = x.dim(1);
      const Tensor own = linear(slice(t, 1, t.dim(1) - T, t.dim(1)), u).reshape({t.dim(0), T, x.dim(2), D});
      return concat({x, t.dim(0) == x.dim(0) ? own : own + Tensor::full(x.shape(), 0, x.device())}, 3);
    };
    Scores s = Encoding::scores(in, p);
    s.pieces = {{beside(in.q, of_queries), beside(in.k, of_keys)}};
    s.scale = real(1 / std::sqrt(2.0 * D));
    return s;
  }
};

}  // namespace

extern const SchemePages tupe_pages;
Scheme tupe() {
  return {.name = "tupe",
          .options = {{"table", {"learned", "sincos"}, "the vectors of positions: learned, or sines and cosines"}},
          .reads = always(Reads::positions),
          .check = [](const ModelShape& m, const Choices& c) {
            if (c["table"] == "sincos") check_halves("tupe:table=sincos", m.d_model);
          },
          .make = layer_of<TUPE>, .laws = always(Laws{.shift = false, .toeplitz = false}),
          .finite = [](const Choices& c) { return c["table"] == "learned"; }, .pages = tupe_pages};
}

// -- for pages
const SchemePages tupe_pages = {
    .summary = "positions are compared with positions, apart from content, by projections of their own",
    .about = R"(Each position has a learned vector, as with a learned embedding, but it is not added to the
symbols. Separate projections compare positions with positions, while content is compared with
content, so that neither disturbs the other.)",
    .formula = "s_ij = ( q_i . k_j + (U_Q t_i) . (U_K t_j) ) / sqrt(2 D),   t_i = norm(table[p_i])",
    .source = "Ke et al. 2021", .doors = "2", .shows = always("The term that two positions add to a head's logit.")};

}  // namespace poslab
