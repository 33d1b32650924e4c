// Step 10: RoPE. core/cpu/rotate.cpp, autograd/rotate.cpp, encodings/rotary.cpp
#include "schemes.h"

using namespace poslab;
using namespace course;

namespace {

// x (B, T, H, D) rotated by the angles (tables, T, D/2), with one mistake if wanted.
struct Form {
  double sign = 1;        // of the sine
  bool halves = false;    // which channels are a pair: (m, m + D/2), else (2m, 2m + 1)
  bool both_old = true;   // the second channel is made of the old first one
  bool by_head = false;   // the angle of the head's number, not of the slot
  bool own_table = true;  // sequence b reads table b, if there are several
};
Values rotated(const Values& x, int B, int T, int H, int D, const Values& angles, int tables, const Form& f = {}) {
  Values y = x;
  for (int b = 0; b < B; ++b)
    for (int t = 0; t < T; ++t)
      for (int h = 0; h < H; ++h)
        for (int m = 0; m < D / 2; ++m) {
          const size_t at = size_t(((b * T + t) * H + h) * D);
          const size_t one = at + size_t(f.halves ? m : 2 * m), two = at + size_t(f.halves ? m + D / 2 : 2 * m + 1);
          const int row = (tables == 1 || !f.own_table ? 0 : b) * T + (f.by_head ? h % T : t);
          const double a = angles[size_t(row * D / 2 + m)], c = std::cos(a), s = f.sign * std::sin(a);
          y[one] = x[one] * c - x[two] * s;
          y[two] = (f.both_old ? x[one] : y[one]) * s + x[two] * c;
        }
  return y;
}
Values angles_of(int n) {
  Values all;
  for (int e = 0; e < n; ++e) all.push_back(0.3 * e - 1);
  return all;
}

}  // namespace

CASE("pairs of channels are rotated") {
  for (const int D : {8, 4, 6}) {
    const int B = 2, T = 3, H = 2;
    const Values x = some(B * T * H * D, 1), a = angles_of(T * D / 2);
    const NoGrad constant;
    const auto wrong = [&](const char* hint, const Form& f) { return Mistake{hint, rotated(x, B, T, H, D, a, 1, f)}; };
    check("(y, y') = (x cos - x' sin, x sin + x' cos), channels (2m, 2m + 1)",
          rotate(Tensor::from({B, T, H, D}, x), Tensor::from({1, T, D / 2}, a), Pairing::interleaved),
          rotated(x, B, T, H, D, a, 1),
          {wrong("it is rotated the other way round: the sine's sign", {.sign = -1}),
           wrong("the pairs are (m, m + D/2); with `interleaved` they are (2m, 2m + 1)", {.halves = true}),
           wrong("the first channel is overwritten before the second one is computed from it", {.both_old = false}),
           wrong("the angle is that of the head; it should be that of the slot", {.by_head = true})});
  }
}

CASE("the other pairing") {
  const int B = 1, T = 2, H = 1, D = 8;
  const Values x = some(B * T * H * D, 1), a = angles_of(T * D / 2);
  const NoGrad constant;
  check("channels (m, m + D/2)", rotate(Tensor::from({B, T, H, D}, x), Tensor::from({1, T, D / 2}, a), Pairing::half),
        rotated(x, B, T, H, D, a, 1, {.halves = true}),
        {{"the pairs are (2m, 2m + 1); without `interleaved` they are (m, m + D/2)", rotated(x, B, T, H, D, a, 1)}});
}

CASE("each sequence has a table of its own") {
  const int B = 2, T = 2, H = 1, D = 4;
  const Values x = some(B * T * H * D, 1), a = angles_of(B * T * D / 2);
  const NoGrad constant;
  check("table_batch = B: sequence b reads table b",
        rotate(Tensor::from({B, T, H, D}, x), Tensor::from({B, T, D / 2}, a), Pairing::interleaved),
        rotated(x, B, T, H, D, a, B),
        {{"all sequences read the first table", rotated(x, B, T, H, D, a, B, {.own_table = false})}});
}

CASE("the gradient is rotated back") {
  clear_tape();
  const int B = 1, T = 3, H = 2, D = 8;
  const Values w = some(B * T * H * D, 2), a = angles_of(T * D / 2);
  Tensor x = Tensor::from({B, T, H, D}, some(B * T * H * D, 1));
  x.require_grad();
  const Tensor first = sum_all(rotate(x, Tensor::from({1, T, D / 2}, a), Pairing::interleaved) *
                               Tensor::from({B, T, H, D}, w)),
               later = sum_all(x);  // its gradient comes first
  backward(first + later);
  const auto plus_one = [](Values v) {
    for (double& e : v) e += 1;
    return v;
  };
  const Values back = rotated(w, B, T, H, D, a, 1, {.sign = -1});
  check("(dx, dx') += (dy cos + dy' sin, dy' cos - dy sin)", x.grad(), plus_one(back),
        {{"it is rotated forward once more; the gradient should turn back: the sine's sign",
          plus_one(rotated(w, B, T, H, D, a, 1))},
         {"= in place of +=: the earlier gradient of x is lost; add to y unless y.empty", back},
         {"nothing flows back", Values(w.size(), 1.)}});
  x.clear_grad();
  backward(sum_all(rotate(x, Tensor::from({1, T, D / 2}, a), Pairing::interleaved) * Tensor::from({B, T, H, D}, w)));
  Values more = plus_one(back);
  for (size_t n = 0; n < more.size(); ++n) more[n] += back[n];
  check("(dx, dx') = ... where dx is empty", x.grad(), back,
        {{"+= is used although y.empty, so its memory holds anything; use = there", more}});
}

namespace {

// Logits of RoPE by its formula, (1, H, T, T)
Values rope_logits(const Values& q, const Values& k, const Values& p, int H, int D, double key_sign = 1,
                   bool rotate_q = true, bool rotate_k = true) {
  const int T = int(p.size());
  Values angles;
  for (double at : p)
    for (int m = 0; m < D / 2; ++m) angles.push_back(at * std::pow(10000., -2. * m / D));
  const Values rq = rotate_q ? rotated(q, 1, T, H, D, angles, 1) : q;
  const Values rk = rotate_k ? rotated(k, 1, T, H, D, angles, 1, {.sign = key_sign}) : k;
  Values s;
  for (int h = 0; h < H; ++h)
    for (int i = 0; i < T; ++i)
      for (int j = 0; j < T; ++j) {
        double sum = 0;
        for (int d = 0; d < D; ++d) sum += rq[size_t((i * H + h) * D + d)] * rk[size_t((j * H + h) * D + d)];
        s.push_back(sum / std::sqrt(double(D)));
      }
  return s;
}

}  // namespace

CASE("queries and keys are rotated by their positions") {
  const int H = 2, D = 8, T = 4;
  const Layer layer("rope", {.layers = 1, .heads = H, .d_model = H * D});
  const Values q = some(T * H * D, 1), k = some(T * H * D, 2), p = {0, 3, 4, 50};
  check("s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D)", layer.logits(q, k, Positions::of_tokens(1, p)),
        rope_logits(q, k, p, H, D),
        {{"keys are not rotated", rope_logits(q, k, p, H, D, 1, true, false)},
         {"queries are not rotated", rope_logits(q, k, p, H, D, 1, false)},
         {"neither is rotated", rope_logits(q, k, p, H, D, 1, false, false)},
         {"keys are rotated backwards: p_i + p_j counts, not the distance", rope_logits(q, k, p, H, D, -1)}},
        1e-3);
}

CASE("queries that are the last slots") {
  const int H = 2, D = 8, T = 4, queries = 2;
  const Layer layer("rope", {.layers = 1, .heads = H, .d_model = H * D});
  const Values k = some(T * H * D, 2), p = {0, 3, 4, 50}, last = some(queries * H * D, 1);
  // The queries' rows of the logits where the queries begin at that slot
  const auto rows = [&](int first) {
    Values q(size_t(first * H * D), 0.), some_rows;
    q.insert(q.end(), last.begin(), last.end()), q.resize(size_t(T * H * D), 0.);
    const Values all = rope_logits(q, k, p, H, D);
    for (int h = 0; h < H; ++h) {
      const auto head = all.begin() + h * T * T;
      some_rows.insert(some_rows.end(), head + first * T, head + (first + queries) * T);
    }
    return some_rows;
  };
  explain_end(
      "queries and keys are not rotated by their own slots: queries are the last slots, last_slots(of_keys, .); "
      "keys are all slots, of_keys");
  check("s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D), queries at slots 2 and 3",
        layer.logits(last, k, Positions::of_tokens(1, p), queries), rows(T - queries),
        {{"queries are the last slots, and here they are the first ones", rows(0)}}, 1e-3);
}

CASE("only the distance counts") {
  const int H = 1, D = 8, T = 4;
  const Layer layer("rope", {.layers = 1, .heads = H, .d_model = H * D});
  const Values q = some(T * H * D, 1), k = some(T * H * D, 2);
  check("all positions 1000 higher: the same logits",
        layer.logits(q, k, Positions::of_tokens(1, {1000, 1003, 1004, 1050})),
        values(layer.logits(q, k, Positions::of_tokens(1, {0, 3, 4, 50}))), {}, 1e-3);
  check("at large positions a float loses digits of the angle, unless whole turns are taken off in double",
        layer.logits(q, k, Positions::of_tokens(1, {1000000, 1000003, 1000004, 1000050})),
        values(layer.logits(q, k, Positions::of_tokens(1, {0, 3, 4, 50}))), {}, 1e-3);
}
