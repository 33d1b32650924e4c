// Relative keys of Transformer-XL (Dai et al. 2019), in both directions:
//
//   s_ij = ( (q_i + u) . k_j + (q_i + v) . W_R sinusoid(d_ij) ) / sqrt(D)           d_ij = p_j - p_i
//
//   u, v: (H, D), W_R: (C, C), in every layer                                       C^2 + 2 C parameters a layer
// Left out: clamp_len, and the distance i - j of the older Chomsky-hierarchy code (weights do not carry over).
#include <cmath>

#include "autograd/encoder_block.h"
#include "encodings/encoding.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

bool has_offset_table(const Choices& c) { return c["mode"] == "offset_table" || c["mode"] == "released"; }

// The released code shifts its lookups by N and JAX clamps them to the last row, N-1: to the right all offsets are
// alike (spec, finding 1 (b)).                  -r -> N - r,   0 and r -> N - 1
struct Row {
  bool released;
  int pool;
  double operator()(double distance) const {
    if (!released) return distance;
    if (-distance >= pool)
      bad_input("relative: mode released has no row for distance {} in a table of {}; raise max_position", distance,
                pool);
    return distance < 0 ? pool + distance : pool - 1;
  }
};
Row row_of(const ModelShape& m, const Choices& c) { return {c["mode"] == "released", m.pool}; }

struct Relative : Encoding {
  int C, H, D;
  Tensor u, v, w;
  bool table;
  Row row;
  std::string key;

  Relative(const Params& p, const ModelShape& m, const Choices& c)
      : C(m.d_model), H(m.heads), D(m.head_dim()), u(p.normal("u", {H, D}, 0.02)), v(p.normal("v", {H, D}, 0.02)),
        w(p.truncated_normal("w", {C, H * D}, 1 / std::sqrt(double(C)))), table(has_offset_table(c)), row(row_of(m, c)),
        key(fmt::format("relative {} {}", C, row.released)) {}

  Scores scores(const Heads& in, const Positions& p) const override {
    Scores s = without_biases(in, p);
    s.pieces[0].q = in.q + u, s.q_rel = in.q + v;
    return s;
  }
  Tensor attend(const Heads& in, const Tensor& values, const Positions& p, const Span& span) const override {
    return attention(without_biases(in, p), values, span, {u, v});
  }

  std::optional<LayerTerms> terms(const Positions& p, const LayerShape& n) const override {
    if (distances(p).pairs) return std::nullopt;
    return LayerTerms{.r = rows_of(p, n.device), .biases = {u, v}};
  }

  Scores without_biases(const Heads& in, const Positions& p) const {
    Scores s = Encoding::scores(in, p);
    s.q_rel = in.q, s.r = rows_of(p, in.q.device()), s.pairs = distances(p).last_rows(in.q.dim(1));
    return s;
  }

  const Distances& distances(const Positions& p) const { return table ? p.offsets("relative") : p.distances(); }
  Tensor rows_of(const Positions& p, Device where) const {                 // (N, H, D)
    const Tensor rows = p.once(key, where, [&](Device device) {            // (N, C)
      std::vector<double> d = distances(p).rows(device);
      for (double& value : d) value = row(value);
      return sinusoid(d, C, device);
    });
    return linear(rows, w).reshape({rows.dim(0), H, D});
  }
};

}  // namespace

extern const SchemePages relative_pages;
Scheme relative() {
  return {.name = "relative",
          .options = {{"mode",
                       {"paper", "offset_table", "released", "differences"},
                       "how relative and alibi read random positions; the paper and its code differ"}},
          .reads = [](const Choices& c) { return has_offset_table(c) ? Reads::offset_table : Reads::distances; },
          .check = [](const ModelShape& m, const Choices&) { check_halves("relative", m.d_model); },
          .make = layer_of<Relative>, .pages = relative_pages};
}

// -- for pages
static const OtherNames words_for_relative("relative", {"transformer-xl"});

const SchemePages relative_pages = {
    .summary = "a learned projection of sin and cos of the distance, times the query",
    .about = R"(The query is compared with two things: with the key, and with the distance of the two, which is a
vector of sines and cosines that a learned matrix projects. All pairs of slots that are equally far
apart are treated alike, wherever they stand.)",
    .formula = "s_ij = ( (q_i + u) . k_j + (q_i + v) . W_R sinusoid(p_j - p_i) ) / sqrt(D)",
    .source = "Dai et al. 2019", .doors = "2 and 3",
    .shows = [](const ModelShape&, const Choices& c) -> std::string {
      return std::string("What a head adds to the logit for the distance alone: v . W_R sinusoid(d) / sqrt(D).") +
             (c["mode"] == "released" ? " The released code's clamped lookup: to the right all are alike." : "");
    }};

}  // namespace poslab
