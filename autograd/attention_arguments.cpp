#include "autograd/attention_arguments.h"

#include <algorithm>
#include <cmath>

#include "autograd/argument_checks.h"
#include "core/error.h"

namespace poslab {
namespace {

struct Interval {
  int from, to;
};
bool meet(Interval a, Interval b, Interval limits) {
  return std::max({a.from, b.from, limits.from}) < std::min({a.to, b.to, limits.to});
}

// A pair in two pieces would have two products q . k.
void check_disjoint(const Scores& s, const Span& span, int queries, int keys) {
  const Interval distances = {1 - span.offset - queries, span.causal ? 1 : keys - span.offset}, slots = {0, keys};
  for (size_t a = 0; a < s.pieces.size(); ++a)
    for (size_t b = 0; b < a; ++b) {
      const Piece &p = s.pieces[a], &o = s.pieces[b];
      if (meet({p.from, p.to}, {o.from, o.to}, distances) && meet({p.first, p.end}, {o.first, o.end}, slots))
        bad_input(
            "attention: pieces {} and {} overlap: distances {} .. {} and {} .. {}, keys {} .. {} and {} .. {}, "
            "ends not included; a pair of query and key may be in one piece only",
            b, a, o.from, o.to, p.from, p.to, o.first, o.end, p.first, p.end);
    }
}

void check_shape(bool fits, const char* what, const Tensor& x, const Scores& s) {
  if (!fits)
    bad_input(
        "attention: {} is {} with q {} and k {}; shapes are q (B, Tq, H, D), k (B, Tk, G, D), v (B, Tk, G, Dv) where G "
        "divides H, q_rel (B, Tq, H, R), r (N, H, R), gain and bias (N, H), temperature (1 or B, Tq, 1 or H)",
        what, x ? to_string(x.shape()) : "absent", s.pieces[0].q ? to_string(s.pieces[0].q.shape()) : "absent",
        s.pieces[0].k ? to_string(s.pieces[0].k.shape()) : "absent");
}

void check_pieces(const Scores& s) {
  if (s.pieces.empty() || s.pieces.size() > max_pieces)
    bad_input("attention: {} pieces; there must be 1 to {}, each a q and a k", s.pieces.size(), max_pieces);
}

AttentionArgs sizes(const Scores& s, const Span& span) {
  check_pieces(s);
  const Tensor &q = s.pieces[0].q, &k = s.pieces[0].k;
  check_shape(q && k && q.dims() == 4 && k.dims() == 4 && q.dim(0) == k.dim(0) && q.dim(2) % k.dim(2) == 0 &&
            q.dim(3) == k.dim(3),
        "q", q, s);
  AttentionArgs a{.batch = q.dim(0),
                  .queries = q.dim(1),
                  .keys = k.dim(1),
                  .heads = q.dim(2),
                  .kv_heads = k.dim(2),
                  .head_dim = q.dim(3),
                  .value_dim = q.dim(3)};
  if (span.offset < 0 || span.offset >= far - a.queries)
    bad_input(
        "attention: the slot of query 0 is {}; slots are counted from 0, "
        "and the last queries of Tk slots start at Tk - Tq",
        span.offset);
  a.causal = span.causal, a.offset = span.offset, a.scale = s.scale, a.pieces = int(s.pieces.size());
  for (int n = 0; n < a.pieces; ++n) {
    const Piece& p = s.pieces[size_t(n)];
    check_shape(p.q && p.q.shape() == q.shape(), "q of a piece", p.q, s);
    check_shape(p.k && p.k.shape() == k.shape(), "k of a piece", p.k, s);
    const auto inside = [](int n) { return std::clamp(n, -far, far); };
    const int from = span.window ? std::max(p.from, 1 - span.window) : p.from;
    a.piece[n] = {p.q.data(),      p.k.data(),    inside(from), std::max(inside(from), inside(p.to)),
                  inside(p.first), inside(p.end)};
  }
  check_disjoint(s, span, a.queries, a.keys);
  return a;
}

void add_rows(AttentionArgs& a, const Scores& s) {
  if (s.q_rel || s.r) {
    check_shape(s.q_rel && s.q_rel.dims() == 4 && s.q_rel.dim(0) == a.batch && s.q_rel.dim(1) == a.queries &&
              s.q_rel.dim(2) == a.heads,
          "q_rel", s.q_rel, s);
    check_shape(s.r && s.r.dims() == 3 && s.r.dim(1) == a.heads && s.r.dim(2) == s.q_rel.dim(3), "r", s.r, s);
    a.q_rel = s.q_rel.data(), a.r = s.r.data(), a.rel_dim = s.r.dim(2), a.rows = s.r.dim(0);
  }
  const auto add = [&](const Tensor& x, const char* what, const real*& at) {
    if (!x) return;
    check_shape(x.dims() == 2 && x.dim(1) == a.heads && (!a.rows || x.dim(0) == a.rows), what, x, s);
    at = x.data(), a.rows = x.dim(0);
  };
  add(s.gain, "gain", a.gain), add(s.bias, "bias", a.bias);
  const int last = std::max(a.offset + a.queries, a.keys) - 1;
  if (!s.pairs && a.rows && a.rows != last + a.keys)
    bad_input(
        "attention: r, gain or bias has {} rows; "
        "without pairs it needs {}, one for each distance of the {} keys to slots 0 .. {}",
        a.rows, last + a.keys, a.keys, last);
}

void add_pairs(AttentionArgs& a, const Scores& s) {
  if (!s.pairs) return;
  const Shape& p = s.pairs.shape();
  if (p.size() != 3 || (p[0] != 1 && p[0] != a.batch) || p[1] != a.queries || p[2] != a.keys)
    bad_input("attention: pairs is {}; it must be (1 or {}, {}, {})", to_string(p), a.batch, a.queries, a.keys);
  if (const int64_t i = first_outside(s.pairs, a.rows); i >= 0)
    bad_input("attention: `pairs` names row {} of r, gain or bias, which have {} rows, counted from 0", s.pairs[i],
              a.rows);
  a.pairs = s.pairs.on(s.pieces[0].q.device()), a.pairs_batch = p[0];
}

void check_bias(const Tensor& bias, const Tensor& to, const char* what) {
  if (bias && (!to || to.dims() != 4 || bias.shape() != Shape{to.dim(2), to.dim(3)}))
    bad_input("attention: the bias of {0} is {1} and {0} is {2}; they must be (H, D) and (B, Tq, H, D)", what,
              to_string(bias.shape()), to ? to_string(to.shape()) : "absent");
}

}  // namespace

AttentionArgs attention_arguments(const Scores& s, const Tensor& v, const Span& span) {
  AttentionArgs a = sizes(s, span);
  if (!std::isfinite(s.scale) || s.scale == 0)
    bad_input("attention: scale is {}; give a finite number other than 0, such as 1 / sqrt(D)", s.scale);
  if (v) {
    check_shape(v.dims() == 4 && v.dim(0) == a.batch && v.dim(1) == a.keys && v.dim(2) == a.kv_heads, "v", v, s);
    a.v = v.data(), a.value_dim = v.dim(3);
  }
  add_rows(a, s), add_pairs(a, s);
  if (const Tensor& t = s.temperature) {
    check_shape(t.dims() == 3 && (t.dim(0) == 1 || t.dim(0) == a.batch) && t.dim(1) == a.queries &&
              (t.dim(2) == 1 || t.dim(2) == a.heads),
          "temperature", t, s);
    a.temperature = t.data(), a.temperature_batch = t.dim(0), a.temperature_heads = t.dim(2);
  }
  check_key_lengths(span.key_lengths, a.batch, a.keys);
  if (span.key_lengths) a.key_lengths = span.key_lengths.on(s.pieces[0].q.device());
  return a;
}

void check_values(const Scores& s, const Tensor& v, const QueryBiases& add) {
  check_pieces(s);
  check_shape(bool(v), "v", v, s);
  check_bias(add.q, s.pieces[0].q, "q"), check_bias(add.q_rel, s.q_rel, "q_rel");
}

}  // namespace poslab
