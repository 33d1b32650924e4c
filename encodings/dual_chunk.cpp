// Dual Chunk Attention (An et al. 2024, 2402.17463; github.com/HKUNLP/ChunkLlama): RoPE in chunks of s positions.
//
//   rho = q - (p_j mod s),  q = p_i mod s                     where both are in one chunk
//                           q = min(p_i mod s + s, s + w - 1) where j is in the chunk before
//                           q = s + w - 1                     where j is in an earlier one
// s + w = c is the trained length, so no distance reaches it. Released code has s + w in line 3 (last=released).
#include <algorithm>
#include <cmath>

#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

constexpr int kinds = 3;   // by the key's chunk: the query's own, the one before, earlier ones

struct DualChunk : WholeLogits {
  RotaryLayer t;
  double s, last;
  DualChunk(const ModelShape& m, const Choices& c)
      : t(rotary_layer(m, c)), s(c.whole("chunk")), last(s + c.whole("window") - (c["last"] == "paper")) {}

  double chunk(double p) const { return std::floor(p / s); }
  double query(double p, int kind) const {
    const double in_chunk = p - s * chunk(p);
    return kind == 0 ? in_chunk : kind == 1 ? std::min(in_chunk + s, last) : last;
  }
  int kind(double query, double key) const {
    return int(std::clamp<double>(chunk(query) - chunk(key), 0, 2));
  }

  Tensor keys(const Heads& in, const Positions& p) const {
    return rotate(in.k, rotation_by(p, t.name, t.name + fmt::format(" keys {}", in.k.dim(3)), in.k.device(),
                                  t.frequencies, [&](double x) { return query(x, 0); }), t.pairing);
  }
  Tensor queries(const Heads& in, const Positions& p, int kind) const {
    const Rotation all = rotation_by(p, t.name, fmt::format("{} queries {} {}", t.name, kind, in.q.dim(3)),
                                   in.q.device(), t.frequencies, [&](double x) { return query(x, kind); });
    return rotate(in.q, last_slots(all, in.q.dim(1)), t.pairing);
  }

  Tensor pairs(const Heads& in, const Positions& p, const Span&) const override {
    const auto is = [&](int wanted) {
      return by_positions(in, p, fmt::format("{} {}", t.name, wanted),
                          [=, this](double query, double key) { return kind(query, key) == wanted; });
    };
    const Tensor k = keys(in, p);
    const auto product = [&](int kind) { return products({queries(in, p, kind), k, in.x}); };
    return where(is(0), product(0), where(is(1), product(1), product(2)));
  }

  // If positions are sorted, attends one chunk of queries at a time, each with three pieces of key slots.
  Tensor attend(const Heads& in, const Tensor& v, const Positions& p, const Span& span) const override {
    const std::vector<double>& at = p.tokens(t.name);
    if (p.sequences() > 1 || !std::is_sorted(at.begin(), at.end())) return WholeLogits::attend(in, v, p, span);
    const int T = p.time(), before = T - in.q.dim(1);
    const auto begin_of = [&](double c) {   // the first slot of chunk c or of a later one
      return int(std::lower_bound(at.begin(), at.end(), c, [&](double x, double wanted) { return chunk(x) < wanted; }) -
                 at.begin());
    };
    const Tensor k = keys(in, p);
    const Tensor q[kinds] = {queries(in, p, 0), queries(in, p, 1), queries(in, p, 2)};
    std::vector<Tensor> results;
    for (int from = before; from < T;) {
      const double c = chunk(at[size_t(from)]);
      const int to = begin_of(c + 1), own = begin_of(c), previous = begin_of(c - 1);
      const auto part = [&](const Tensor& x) { return x ? slice(x, 1, from - before, to - before) : x; };
      Scores scores;
      scores.scale = real(1 / std::sqrt(double(in.q.dim(3))));
      scores.temperature = part(in.temperature);
      scores.pieces = {{.q = part(q[0]), .k = k, .first = own}};
      if (previous < own) scores.pieces.push_back({.q = part(q[1]), .k = k, .first = previous, .end = own});
      if (previous > 0) scores.pieces.push_back({.q = part(q[2]), .k = k, .end = previous});
      Span here = span;
      here.offset += from - before;
      results.push_back(attention(scores, v, here));
      from = to;
    }
    return results.size() == 1 ? results[0] : concat(results, 1);
  }
};

}  // namespace

extern const SchemePages dual_chunk_pages;
Scheme dual_chunk() {
  return rotary_layers_scheme(
      {.name = "dual_chunk",
       .options = {window_option("chunk", "0.75L", "positions in a chunk", {1, 1 << 24}),
                   window_option("window", "0.25L", "trained length - chunk; no distance reaches chunk + window",
                                 {1, 1 << 24}),
                   {"last", {"paper", "released"}, "far queries stand at s + w - 1, or at s + w"},
                   pairing_option(), rope_base()},
       .make = [](Params, const ModelShape& m, const Choices& c, int) { return std::make_unique<DualChunk>(m, c); },
       .laws = [](auto&, auto&) { return Laws{.shift = false, .toeplitz = false}; },
       .causal_only = [](const Choices&) -> std::string {
         return "its queries move away from earlier chunks, and would move into later ones";
       },
       .pages = dual_chunk_pages});
}

// -- for pages
const SchemePages dual_chunk_pages = {
    .summary = "RoPE in chunks, with one place from which queries see all earlier chunks",
    .about = R"(Positions are counted within chunks. Keys in the query's own chunk keep their distance, and so do
near keys of the chunk before. For keys in earlier chunks, all queries count as being at one place,
after the key's chunk. No distance reaches the trained length, chunk + window. It is meant for
testing a trained RoPE model. Chunks are measured in positions.)",
    .formula = "rho = q - p_j mod s,   q = p_i mod s, min(p_i mod s + s, s + w - 1) or s + w - 1",
    .source = "An et al. 2024",
    .shows = [](auto&, auto&) { return cosines_shown + ". It holds for keys up to the query."; },
    .unreached = until_position("chunk"),
    .pictures = {.matrix = cosines,
                 .distances = [](const ModelShape& m, const Choices& c, const Positions& p) {
                   const DualChunk scheme(m, c);
                   const std::vector<double>& at = p.tokens("dual_chunk");
                   std::vector<double> d;
                   for (int i = 0; i < p.time(); ++i)
                     for (int j = 0; j < p.time(); ++j) {
                       const double query = at[size_t(i)], key = at[size_t(j)];
                       d.push_back(j > i ? std::nan("")
                                         : scheme.query(key, 0) - scheme.query(query, scheme.kind(query, key)));
                     }
                   return Tensor::from({p.time(), p.time()}, d);
                 }},
    .cost = {.matrices = [](auto&, auto&) { return 2.; }, .live = always(0.)}};

}  // namespace poslab
