// Step 6: attention, backward. core/cpu/attention/naive.h
#include "attend.h"

using namespace poslab;
using namespace course;

namespace {

// All gradients of sum(w o), by the formulas, with one mistake if wanted.
struct Wrong6 {
  bool along = true, a_in_ds = true, scale = true, from_weights = true, half_along = false;
  const Sample* second = nullptr;  // a second piece, for keys from the query's own slot on
  bool one_piece = false;          // its gradients go to the first piece
};
struct Slopes {
  Values q, k, v, q2, k2;
};
Slopes slopes(const Sample& x, const Values& w, const Wrong6& f = {}) {
  Slopes d{Values(x.q.size()), Values(x.k.size()), Values(x.v.size()), Values(x.q.size()), Values(x.k.size())};
  const double scale = 1 / std::sqrt(double(D));
  const auto of = [&](int i, int j) -> const Sample& { return f.second && j >= i ? *f.second : x; };
  Values a(size_t(B * H * Tq * Tk));
  for (int b = 0; b < B; ++b) {  // logits as biases, one sequence at a time
    const auto logit = [&](int h, int i, int j) {
      const Sample& s = of(i, j);
      double sum = 0;
      for (int c = 0; c < D; ++c)
        sum += s.q[size_t(((b * Tq + i) * H + h) * D + c)] * s.k[size_t(((b * Tk + j) * H + h) * D + c)];
      return scale * sum;
    };
    const Values all = attended(Values(x.q.size()), x.k, x.v, {.bias = logit}).a;
    const auto begin = std::ptrdiff_t(b * H * Tq * Tk), end = begin + H * Tq * Tk;
    std::copy(all.begin() + begin, all.begin() + end, a.begin() + begin);
  }
  for (int b = 0; b < B; ++b)
    for (int h = 0; h < H; ++h)
      for (int i = 0; i < Tq; ++i) {
        const auto query = [&](int c) { return size_t(((b * Tq + i) * H + h) * D + c); };
        const auto key = [&](int j, int c) { return size_t(((b * Tk + j) * H + h) * D + c); };
        const double* ai = &a[size_t(((b * H + h) * Tq + i) * Tk)];
        double da[Tk] = {}, along = 0;
        for (int j = 0; j < Tk; ++j) {
          for (int c = 0; c < D; ++c) {
            da[j] += w[query(c)] * x.v[key(j, c)];
            d.v[key(j, c)] += (f.from_weights ? ai[j] : 1) * w[query(c)];
          }
          along += (f.half_along ? 1 : ai[j]) * da[j];
        }
        for (int j = 0; j < Tk; ++j) {
          const double dx = (f.scale ? scale : 1) * (f.a_in_ds ? ai[j] : 1) * (da[j] - (f.along ? along : 0));
          const Sample& s = of(i, j);
          const bool second = &s != &x && !f.one_piece;
          for (int c = 0; c < D; ++c) {
            (second ? d.q2 : d.q)[query(c)] += dx * s.k[key(j, c)];
            (second ? d.k2 : d.k)[key(j, c)] += dx * s.q[query(c)];
          }
        }
      }
  return d;
}

struct Backward6 {
  Sample x;
  Values w = some(B * Tq * H * D, 5);
  Backward6() {
    clear_tape();
    x.tq.require_grad(), x.tk.require_grad(), x.tv.require_grad();
    backward(sum_all(attention(x.scores(), x.tv, {}) * Tensor::from({B, Tq, H, D}, w)));
  }
};

}  // namespace

CASE("the gradient of values") {
  const Backward6 of;
  check("dv_j = sum_i a_ij do_i", of.x.tv.grad(), slopes(of.x, of.w).v,
        {{"the weights are missing", slopes(of.x, of.w, {.from_weights = false}).v}});
}

CASE("the gradient of queries") {
  const Backward6 of;
  const auto q = [&](const Wrong6& f) { return slopes(of.x, of.w, f).q; };
  check("dq_i = scale sum_j ds_ij k_j,  ds_ij = a_ij (da_ij - sum_k a_ik da_ik),  da_ij = do_i . v_j", of.x.tq.grad(),
        q({}),
        {{"the sum over k is missing: all weights of a query depend on each logit", q({.along = false})},
         {"the factor a_ij is missing", q({.a_in_ds = false})},
         {"the scale 1 / sqrt(D) is forgotten", q({.scale = false})},
         {"the sum over k has no weights in it: it is sum_k a_ik da_ik", q({.half_along = true})}});
}

CASE("the gradient of keys") {
  const Backward6 of;
  const auto k = [&](const Wrong6& f) { return slopes(of.x, of.w, f).k; };
  check("dk_j = scale sum_i ds_ij q_i", of.x.tk.grad(), k({}),
        {{"the sum over k is missing: all weights of a query depend on each logit", k({.along = false})},
         {"the factor a_ij is missing", k({.a_in_ds = false})},
         {"the scale 1 / sqrt(D) is forgotten", k({.scale = false})}});
}

CASE("each piece has its own queries and keys") {
  clear_tape();
  Sample x, other;  // the queries and keys of the second piece
  other.q = some(B * Tq * H * D, 6), other.k = some(B * Tk * H * D, 7);
  other.tq = Tensor::from({B, Tq, H, D}, other.q), other.tk = Tensor::from({B, Tk, H, D}, other.k);
  for (Tensor* t : {&x.tq, &x.tk, &other.tq, &other.tk}) t->require_grad();
  const Values w = some(B * Tq * H * D, 5);
  Scores s = x.scores();
  s.pieces = {{x.tq, x.tk, -far, 0}, {other.tq, other.tk, 0, far}};
  backward(sum_all(attention(s, x.tv, {}) * Tensor::from({B, Tq, H, D}, w)));
  const Slopes both = slopes(x, w, {.second = &other}), first = slopes(x, w, {.second = &other, .one_piece = true});
  const char* hint = "all of it goes to the first piece; `number` is the number of the pair's own piece";
  check("dq of the piece for keys before the query", x.tq.grad(), both.q, {{hint, first.q}});
  check("dk of the piece for keys before the query", x.tk.grad(), both.k, {{hint, first.k}});
  check("dq of the other piece", other.tq.grad(), both.q2);
  check("dk of the other piece", other.tk.grad(), both.k2);
}

CASE("masked pairs get no gradient") {
  clear_tape();
  Sample x;
  x.tk.require_grad(), x.tv.require_grad();
  backward(
      sum_all(attention(x.scores(), x.tv, {.causal = true}) * Tensor::from({B, Tq, H, D}, some(B * Tq * H * D, 5))));
  Values last_k, last_v, zeros(size_t(B * H * D));
  for (int b = 0; b < B; ++b)
    for (int e = 0; e < H * D; ++e) {
      last_k.push_back(values(x.tk.grad())[size_t((b * Tk + Tk - 1) * H * D + e)]);
      last_v.push_back(values(x.tv.grad())[size_t((b * Tk + Tk - 1) * H * D + e)]);
    }
  check("dk of the last key, which no query sees", {B, H, D}, last_k, zeros);
  check("dv of the last key, which no query sees", {B, H, D}, last_v, zeros);
}

CASE("gradients are added to earlier ones") {
  clear_tape();
  Sample x;
  x.tq.require_grad(), x.tk.require_grad(), x.tv.require_grad();
  const Values w = some(B * Tq * H * D, 5);
  const Tensor o = attention(x.scores(), x.tv, {});
  backward(sum_all((o + o) * Tensor::from({B, Tq, H, D}, w)) + sum_all(x.tv));
  Values expected = slopes(x, w).v, only = expected;
  for (size_t n = 0; n < expected.size(); ++n) only[n] = 2 * expected[n], expected[n] = 2 * expected[n] + 1;
  check("dv += sum_i a_ij do_i", x.tv.grad(), expected,
        {{"= in place of +=: the gradient that v has from elsewhere is lost", only}});
}

CASE("central differences") {
  clear_tape();
  Sample x;
  const Values w = some(B * Tq * H * D, 5);
  x.tq.require_grad();
  backward(sum_all(attention(x.scores(), x.tv, {}) * Tensor::from({B, Tq, H, D}, w)));
  const double e = 1e-4;
  Values slope;
  for (size_t n = 0; n < x.q.size(); ++n) {
    const auto loss = [&](double by) {
      Values moved = x.q;
      moved[n] += by;
      const Values o = attended(moved, x.k, x.v).o;
      double sum = 0;
      for (size_t m = 0; m < o.size(); ++m) sum += w[m] * o[m];
      return sum;
    };
    slope.push_back((loss(e) - loss(-e)) / (2 * e));
  }
  check("dq = (loss(q + e) - loss(q - e)) / 2 e", x.tq.grad(), slope, {}, 1e-3);
}
