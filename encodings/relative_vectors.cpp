#include "encodings/relative_vectors.h"

#include "encodings/explicit_weights.h"

namespace poslab {
namespace {

// (N, 1 or H, D) -> (N, H, D)
Tensor for_heads(const Tensor& r, int heads) {
  return r.dim(1) == heads ? r : r * Tensor::full({1, heads, 1}, 1, r.device());
}

Scores scores_of(const RelativeVectors& v, const Heads& in, const Positions& p) {
  Scores s;
  s.pieces = {{in.q, in.k}};
  s.scale = real(v.scale), s.temperature = in.temperature;
  if (v.queries) {
    const Distances& d = p.distances();
    s.q_rel = in.q, s.r = for_heads(v.queries(d.rows(in.q.device())), in.q.dim(2));
    s.pairs = d.last_rows(in.q.dim(1));
  }
  return s;
}

// x_t . r[row of i and j], where t is the slot of the query i or of the key j: (B, H, Tq, Tk). One product for each
// slot t, of all sequences if they share positions (S = 1), and of all heads if they share r (h = 1).
Tensor met(const Tensor& x, const Tensor& r, const Ids& rows, bool by_query) {
  const int B = x.dim(0), T = x.dim(1), H = x.dim(2), D = x.dim(3), S = rows.shape()[0], h = r.dim(1);
  const Tensor of_pairs = gather(r, rows);                                           // (S, Tq, Tk, h, D)
  const Tensor sides = permute(of_pairs, by_query ? std::vector{0, 1, 3, 4, 2} : std::vector{0, 2, 3, 4, 1});
  const Tensor own = permute(x.reshape({S, B / S, T, h, H / h, D}), {0, 2, 3, 1, 4, 5});
  const Tensor s = matmul(own.reshape({S, T, h, B / S * (H / h), D}), sides);        // (S, T, h, ..., Tk or Tq)
  const Tensor apart = s.reshape({S, T, h, B / S, H / h, s.dim(-1)});
  return permute(apart, by_query ? std::vector{0, 3, 2, 4, 1, 5} : std::vector{0, 3, 2, 4, 5, 1})
      .reshape({B, H, rows.shape()[1], rows.shape()[2]});
}

struct OfQueries : Encoding {
  RelativeVectors of;
  explicit OfQueries(RelativeVectors v) : of(std::move(v)) {}
  Scores scores(const Heads& in, const Positions& p) const override { return scores_of(of, in, p); }
};

struct OfAll : WholeLogits {
  RelativeVectors of;
  explicit OfAll(RelativeVectors v) : of(std::move(v)) {}

  Tensor pairs(const Heads& in, const Positions& p, const Span&) const override {
    const Distances& d = p.distances();
    const std::vector<double> rows = d.rows(in.q.device());
    const Ids at = rows_of_pairs(d, in.q.dim(1), in.k.dim(1));
    const Tensor q = in.q * of.scale;
    Tensor s = matmul(by_head(q), permute(in.k, {0, 2, 3, 1}));
    if (of.queries) s = s + met(q, of.queries(rows), at, true);
    if (of.keys) s = s + met(in.k * of.scale, of.keys(rows), at, false);
    return s;
  }

  Tensor mix(const Tensor& a, const Tensor& v, const Positions& p) const override {
    Tensor o = matmul(a, v);
    if (!of.values) return o;
    const Distances& d = p.distances();
    const Ids at = rows_of_pairs(d, a.dim(2), a.dim(3));
    const int S = at.shape()[0], B = a.dim(0), H = a.dim(1), Tq = a.dim(2), Tk = a.dim(3), D = v.dim(3);
    const Tensor rows = of.values(d.rows(a.device()));
    const Tensor c = gather(rows.reshape({rows.dim(0), D}), at);                     // (1 or B, Tq, Tk, D)
    if (S > 1) return o + by_head(matmul(by_head(a), c));
    const Tensor sum = matmul(permute(a, {2, 0, 1, 3}).reshape({Tq, B * H, Tk}), c.reshape({Tq, Tk, D}));
    return o + permute(sum.reshape({Tq, B, H, D}), {1, 2, 0, 3});
  }
};

}  // namespace

std::unique_ptr<Encoding> relative_vectors(RelativeVectors v) {
  if (v.keys || v.values) return std::make_unique<OfAll>(std::move(v));
  return std::make_unique<OfQueries>(std::move(v));
}

Ids rows_of_pairs(const Distances& d, int queries, int keys) {
  if (d.pairs) return d.last_rows(queries);
  std::vector<int> row;
  for (int t = keys - queries; t < keys; ++t)
    for (int j = 0; j < keys; ++j) row.push_back(j - t + keys - 1);
  return {{1, queries, keys}, std::move(row)};
}

Tensor at_pairs(const Tensor& rows, const Ids& pairs) { return permute(gather(rows, pairs), {0, 3, 1, 2}); }

}  // namespace poslab
