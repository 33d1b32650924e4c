// Relative projection bank (x-transformers; Inkling, without a paper): curves over the distance, mixed by the query.
//
//   s_ij = q_i . k_j / sqrt(D) + sum_c (W x_i + b)_hc curve_c(p_i - p_j)          for 0 <= p_i - p_j < reach, else + 0
//
//   curves: (reach, n) shared by the heads; W: (C, H n), in every layer. Between whole distances: a mixture of two.
#include <algorithm>
#include <cmath>

#include "encodings/relative_vectors.h"

namespace poslab {
namespace {

struct ProjectionBank : Encoding {
  int n, reach;
  Tensor curves, w, b;
  ProjectionBank(const Params& p, const ModelShape& m, const Choices& c)
      : n(c.whole("curves")), reach(c.whole("reach")), curves(p.normal("curves", {reach, n}, 0.02)) {
    const double bound = 1 / std::sqrt(double(m.d_model));
    w = p.uniform("w", {m.d_model, m.heads * n}, -bound, bound), b = p.uniform("b", {m.heads * n}, -bound, bound);
  }

  Scores scores(const Heads& in, const Positions& p) const override {
    const Distances& distances = p.distances();
    std::vector<double> at, within;
    for (double d : distances.rows(in.q.device())) {
      within.push_back(d <= 0 && -d < reach);
      at.push_back(std::clamp<double>(-d, 0, reach - 1));
    }
    const int N = int(at.size()), Tq = in.q.dim(1), H = in.q.dim(2);
    const Tensor inside = Tensor::from({N, 1}, within).to(in.q.device());
    Scores s = Encoding::scores(in, p);
    s.q_rel = linear(in.x, w, b).reshape({in.q.dim(0), Tq, H, n}) * (1 / s.scale);
    s.r = (rows_at(curves, at) * inside).reshape({N, 1, n}) * Tensor::full({1, H, 1}, 1, in.q.device());
    s.pairs = distances.last_rows(Tq);
    return s;
  }
};

}  // namespace

extern const SchemePages projection_bank_pages;
Scheme projection_bank() {
  return {.name = "projection_bank",
          .options = {{"curves", 16, {1, 256}, "number of curves"},
                      {"reach", 1024, {4, 65536}, "distances from here on get no bias"}},
          .reads = always(Reads::distances), .make = layer_of<ProjectionBank>,
          .pages = projection_bank_pages};
}

// -- for pages
const SchemePages projection_bank_pages = {
    .summary = "learned curves over the distance, which each query mixes by its content",
    .about = R"(A bank of learned curves says how a bias may depend on the distance. Each query mixes them, with
numbers that a linear layer makes of its state, so that one token can look near and another far.
Keys after the query, and beyond the reach, get no bias.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) + sum_c (W x_i + b)_hc curve_c(p_i - p_j),   0 <= p_i - p_j < reach",
    .source = "x-transformers 2026", .doors = "3", .shows = always("The bias for a query whose state is 0.")};

}  // namespace poslab
