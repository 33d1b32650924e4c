// Step 6: attention, backward. core/cpu/attention_naive.h
#include "attend.h"

using namespace poslab;
using namespace course;

namespace {

// All gradients of sum(w o), by the formulas, with one thing wrong if wanted.
struct Wrong6 {
  bool along = true, a_in_ds = true, scale = true, from_weights = true, sum_of_keys = false;
  bool da_by_o = false, half_along = false;
};
struct Slopes {
  Values q, k, v;
};
Slopes slopes(const Sample& x, const Values& w, const Wrong6& f = {}) {
  Slopes d{Values(x.q.size()), Values(x.k.size()), Values(x.v.size())};
  const Values a = attended(x.q, x.k, x.v).a;
  const double scale = 1 / std::sqrt(double(D));
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
          const double ds = (f.a_in_ds ? ai[j] : 1) * (da[j] - (f.along ? along : 0));
          for (int c = 0; c < D; ++c) {
            d.q[query(c)] += (f.scale ? scale : 1) * ds * x.k[key(j, c)];
            d.k[key(j, c)] += (f.scale ? scale : 1) * ds * x.q[query(c)];
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

CASE("gradients are added to what is there") {
  clear_tape();
  Sample x;
  x.tq.require_grad(), x.tk.require_grad(), x.tv.require_grad();
  const Values w = some(B * Tq * H * D, 5);
  const Tensor o = attention(x.scores(), x.tv, {});
  backward(sum_all((o + o) * Tensor::from({B, Tq, H, D}, w)) + sum_all(x.tv));
  Values expected = slopes(x, w).v, only = expected;
  for (size_t n = 0; n < expected.size(); ++n) only[n] = 2 * expected[n], expected[n] = 2 * expected[n] + 1;
  check("dv += sum_i a_ij do_i", x.tv.grad(), expected, {{"= for +=: what flowed into v elsewhere is lost", only}});
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
  check("dq is what (loss(q + e) - loss(q - e)) / 2 e says", x.tq.grad(), slope, {}, 1e-3);
}
