#include "core/cost.h"

#include <algorithm>

namespace poslab::cost {
namespace {

constexpr double word = sizeof(real), number = sizeof(int);

// Bytes of a result of n elements.
double written(Accumulator y, double n) { return !y ? 0 : (y.empty ? 1 : 2) * n * word; }

// Elements that a loop meets: a step of 0 meets the same ones again.
double met(const StridedLoop& w, const int64_t* step) {
  double n = 1;
  for (int d = 0; d < w.dims; ++d) n *= step[d] ? double(w.size[d]) : 1;
  return n;
}

Cost arrays(double n) { return {0, n * word}; }
Cost binary(const StridedLoop& w) { return arrays(double(w.count()) + met(w, w.a) + met(w, w.b)); }
Cost unary(int64_t n) { return arrays(2 * double(n)); }                                       // x, y
Cost unary_backward(Accumulator dx, int64_t n) {                                              // dy and x or y, dx
  return {0, 2 * double(n) * word + written(dx, double(n))};
}

}  // namespace

Cost add(real*, const real*, const real*, const StridedLoop& w) { return binary(w); }
Cost sub(real*, const real*, const real*, const StridedLoop& w) { return binary(w); }
Cost mul(real*, const real*, const real*, const StridedLoop& w) { return binary(w); }
Cost div(real*, const real*, const real*, const StridedLoop& w) { return binary(w); }
Cost greater_equal(real*, const real*, const real*, const StridedLoop& w) { return binary(w); }
Cost minimum(real*, const real*, const real*, const StridedLoop& w) { return binary(w); }
Cost maximum(real*, const real*, const real*, const StridedLoop& w) { return binary(w); }
Cost keep(real*, const real*, const real*, const StridedLoop& w) { return binary(w); }
Cost pow(real*, const real*, const real*, const StridedLoop& w) { return binary(w); }
Cost sum(Accumulator y, const real*, const StridedLoop& w) { return {0, met(w, w.a) * word + written(y, met(w, w.y))}; }
Cost copy(Accumulator y, const real*, const StridedLoop& w) {
  return {0, met(w, w.a) * word + written(y, met(w, w.y))};
}

Cost exp(real*, const real*, int64_t n) { return unary(n); }
Cost log(real*, const real*, int64_t n) { return unary(n); }
Cost tanh(real*, const real*, int64_t n) { return unary(n); }
Cost sigmoid(real*, const real*, int64_t n) { return unary(n); }
Cost softplus(real*, const real*, int64_t n) { return unary(n); }
Cost relu(real*, const real*, int64_t n) { return unary(n); }
Cost cos(real*, const real*, int64_t n) { return unary(n); }
Cost sin(real*, const real*, int64_t n) { return unary(n); }
Cost sqrt(real*, const real*, int64_t n) { return unary(n); }
Cost silu(real*, const real*, int64_t n) { return unary(n); }
Cost gelu(real*, const real*, int64_t n) { return unary(n); }
Cost gelu_tanh(real*, const real*, int64_t n) { return unary(n); }
Cost exp_backward(Accumulator dx, const real*, const real*, int64_t n) { return unary_backward(dx, n); }
Cost log_backward(Accumulator dx, const real*, const real*, int64_t n) { return unary_backward(dx, n); }
Cost tanh_backward(Accumulator dx, const real*, const real*, int64_t n) { return unary_backward(dx, n); }
Cost sigmoid_backward(Accumulator dx, const real*, const real*, int64_t n) { return unary_backward(dx, n); }
Cost softplus_backward(Accumulator dx, const real*, const real*, int64_t n) { return unary_backward(dx, n); }
Cost relu_backward(Accumulator dx, const real*, const real*, int64_t n) { return unary_backward(dx, n); }
Cost cos_backward(Accumulator dx, const real*, const real*, int64_t n) { return unary_backward(dx, n); }
Cost sin_backward(Accumulator dx, const real*, const real*, int64_t n) { return unary_backward(dx, n); }
Cost sqrt_backward(Accumulator dx, const real*, const real*, int64_t n) { return unary_backward(dx, n); }
Cost silu_backward(Accumulator dx, const real*, const real*, int64_t n) { return unary_backward(dx, n); }
Cost gelu_backward(Accumulator dx, const real*, const real*, int64_t n) { return unary_backward(dx, n); }
Cost gelu_tanh_backward(Accumulator dx, const real*, const real*, int64_t n) { return unary_backward(dx, n); }

// -- rows: x, y: (rows, n) ------------------------------------------------------------------------------------------
Cost max(real*, int*, const real*, int64_t rows, int n) {
  return {0, double(rows) * ((n + 1) * word + number)};
}
Cost max_backward(Accumulator dx, const real*, const int*, int64_t rows, int n) {
  return {0, double(rows) * (word + number) + written(dx, double(rows) * n)};
}
Cost top_k(real*, real*, const real*, int64_t rows, int n, int k) { return arrays(double(rows) * (n + 2. * k)); }
Cost top_k_backward(Accumulator dx, const real*, const real*, int64_t rows, int n, int k) {
  return {0, double(rows) * 2 * k * word + written(dx, double(rows) * n)};
}
Cost scan(Accumulator y, const real*, int64_t outer, int n, int64_t inner, ScanOrder) {
  const double x = double(outer * n * inner);
  return {0, x * word + written(y, x)};
}
Cost interpolate(real*, const real*, const real*, int64_t rows, int entries, int n) {
  return arrays(double(rows) * (entries + 2. * n));                                           // t p y
}
Cost interpolate_backward(Accumulator dt, Accumulator dp, const real*, const real*, const real*, int64_t rows,
                          int entries, int n) {
  const double t = double(rows) * entries, p = double(rows) * n;
  return {0, ((dp ? t : 0) + 2 * p) * word + written(dt, t) + written(dp, p)};               // t p dy
}
Cost softmax(real*, const real*, int64_t rows, int n) { return unary(rows * n); }
Cost softmax_backward(Accumulator dx, const real*, const real*, int64_t rows, int n) {
  return unary_backward(dx, rows * n);
}
Cost norm(real*, real*, const real*, const real* z, const real*, const real* bias, const NormForm& form) {
  return arrays((z ? 4. : 2.) * double(form.rows) * form.n + (bias ? 2 : 1) * form.n);          // x z s y gain bias
}
Cost norm_backward(Accumulator dx, Accumulator dz, Accumulator dgain, Accumulator dbias, const real* ds, const real* dy,
                   const real*, const real*, const NormForm& form) {
  const double n = form.n, x = double(form.rows) * n;
  return {0, ((ds ? x : 0) + (dy ? 2 * x + n : 0)) * word + written(dx, x) + written(dz, x) + written(dgain, n) +
                 written(dbias, n)};                                                            // ds dy s gain
}

// -- products -------------------------------------------------------------------------------------------------------
Cost matmul(Accumulator c, const real*, const real*, const Product& p) {
  const double m = p.m, n = p.n, k = p.k, batch = double(p.batch);
  const auto matrices = [&](int64_t step) { return step ? batch : 1; };
  return {2 * batch * m * n * k,
          (matrices(p.a_step) * m * k + matrices(p.b_step) * k * n) * word + written(c, matrices(p.c_step) * m * n)};
}
Cost linear(real*, const real*, const real*, const real* b, int64_t rows, int in, int out) {
  const double r = double(rows), w = double(in) * out;
  return {2 * r * w, (r * in + w + (b ? out : 0) + r * out) * word};
}
// dx = dy w^T, dw = x^T dy: a product each
Cost linear_backward(Accumulator dx, Accumulator dw, Accumulator db, const real*, const real*, const real*,
                     int64_t rows, int in, int out) {
  const double r = double(rows), w = double(in) * out;
  const double read = r * out + (dx ? w : 0) + (dw ? r * in : 0);
  return {2 * r * w * ((dx ? 1 : 0) + (dw ? 1 : 0)),
          read * word + written(dx, r * in) + written(dw, w) + written(db, out)};
}
Cost feed_forward(real*, real*, const real*, const real*, const real*, const real*, const real*, int64_t rows, int in,
                  int d_ff, int out) {
  const double r = double(rows), w = double(in + out) * d_ff;
  return {2 * r * w, (r * (in + d_ff + out) + w + d_ff + out) * word};                    // x hidden y w1 w2 b1 b2
}
// dh = dy w2^T, dx = dh w1^T, dw1 = x^T dh, dw2 = hidden^T dy
Cost feed_forward_backward(Accumulator dx, Accumulator dw1, Accumulator db1, Accumulator dw2, Accumulator db2,
                           const real*, const real*, const real*, const real*, const real*, int64_t rows, int in,
                           int d_ff, int out) {
  const double r = double(rows), w1 = double(in) * d_ff, w2 = double(d_ff) * out;
  const bool through = dx || dw1 || db1;
  return {2 * r * (w2 * (through + bool(dw2)) + w1 * (bool(dx) + bool(dw1))),
          (r * (out + d_ff) + (dw1 ? r * in : 0) + (through ? w2 : 0) + (dx ? w1 : 0)) * word + written(dx, r * in) +
              written(dw1, w1) + written(db1, d_ff) + written(dw2, w2) + written(db2, out)};
}

// x w1, x w3, h w2; what is read and written: x a c y and the weights
Cost gated_feed_forward(real*, real*, real*, const GatedArgs& g) {
  const double r = double(g.rows), w = double(2 * g.in + g.out) * g.d_ff;
  const double biases = (g.b1 ? g.d_ff : 0) + (g.b3 ? g.d_ff : 0) + (g.b2 ? g.out : 0);
  return {2 * r * w, (r * (g.in + 2 * g.d_ff + g.out) + w + biases) * word};
}
// dh = dy w2^T, dx = da w1^T + dc w3^T, dw1 = x^T da, dw3 = x^T dc, dw2 = h^T dy
Cost gated_feed_forward_backward(const GatedGrads& d, const real*, const real*, const real*, const GatedArgs& g) {
  const double r = double(g.rows), w1 = double(g.in) * g.d_ff, w2 = double(g.d_ff) * g.out;
  const bool dh = d.x || d.w1 || d.b1 || d.w3 || d.b3, x = d.w1 || d.w3;
  return {2 * r * (w2 * (dh + bool(d.w2)) + w1 * (2 * bool(d.x) + bool(d.w1) + bool(d.w3))),
          (r * (g.out + 2 * g.d_ff) + (x ? r * g.in : 0) + (dh ? w2 : 0) + (d.x ? 2 * w1 : 0)) * word +
              written(d.x, r * g.in) + written(d.w1, w1) + written(d.w3, w1) + written(d.w2, w2) +
              written(d.b1, g.d_ff) + written(d.b3, g.d_ff) + written(d.b2, g.out)};
}

// -- the rest -------------------------------------------------------------------------------------------------------
Cost dropout(Accumulator y, const real*, int64_t n, Dropout) { return {0, double(n) * word + written(y, double(n))}; }
// How many different rows of the table are read is not known here; they are few where a table is small, so: none.
Cost gather(real*, const real*, const int*, int64_t rows, int n) { return {0, double(rows) * (n * word + number)}; }
Cost gather_backward(Accumulator dtable, const real*, const int*, int64_t rows, int n, int entries) {
  return {0, double(rows) * (n * word + number) + written(dtable, double(entries) * n)};
}
Cost rotate(Accumulator y, const real*, const real*, const real*, int batch, int table_batch, int time, int heads,
            int head_dim, bool, bool) {
  const double x = double(batch) * time * heads * head_dim;
  return {0, (x + double(table_batch) * time * head_dim) * word + written(y, x)};
}
Cost cross_entropy(real*, real*, const real*, const int*, int64_t rows, int n) {
  return {0, double(rows) * (2 * n * word + number) + word};                                  // x p target loss
}
Cost cross_entropy_backward(Accumulator dx, const real*, const real*, const int*, int64_t rows, int n) {
  return {0, double(rows) * (n * word + number) + word + written(dx, double(rows) * n)};
}

namespace {

struct Attention {
  // elements of the arrays, pairs not masked
  double q, k, o, v, q_rel, r, gain, bias, temperature, q_bias, q_rel_bias, tables, seen;
  explicit Attention(const AttentionArgs& args) {
    // All fields by name, so that one which is added does not compile until it is counted here.
    const auto& [B, Tq, Tk, H, G, D, Dv, causal, offset, scale, pieces, N, piece, v_at, q_rel_at, r_at, gain_at,
                 bias_at, temperature_at, temperature_batch, temperature_heads, key_lengths, pairs, pairs_batch, R,
                 q_bias_at, q_rel_bias_at] = args;
    const double rows = double(B) * Tq * H, keys = double(B) * Tk * G;
    q = rows * D, k = keys * D, o = rows * Dv, v = keys * Dv;
    q_rel = q_rel_at ? rows * R : 0, r = r_at ? double(N) * H * R : 0;
    gain = gain_at ? double(N) * H : 0, bias = bias_at ? double(N) * H : 0;
    temperature = temperature_at ? double(temperature_batch) * Tq * temperature_heads : 0;
    q_bias = q_bias_at ? double(H) * D : 0, q_rel_bias = q_rel_bias_at ? double(H) * R : 0;
    tables = (pairs ? double(pairs_batch) * Tq * Tk : 0) + (key_lengths ? B : 0);
    // Key lengths may lie on a GPU, and are not looked at: padding is counted in.
    seen = 0;
    for (int p = 0; p < pieces; ++p)
      for (int t = offset; t < offset + Tq; ++t) {
        const int first = std::max({0, piece[p].first, t + piece[p].from});
        const int last = std::min({Tk, piece[p].last, t + piece[p].to, causal ? t + 1 : Tk});
        seen += std::max(0, last - first);
      }
    seen *= double(B) * H;
  }
  double logit_bytes(const AttentionArgs& a) const {
    return (a.pieces * (q + k) + q_rel + r + gain + bias + temperature + q_bias + q_rel_bias) * word + tables * number;
  }
};
double dot(double pairs, int n) { return 2 * pairs * n; }

}  // namespace

// q k^T, q_rel r^T, a v: (pairs) products of length head_dim, rel_dim, value_dim              stats: 2 for each q_i
Cost attention(real*, real*, const AttentionArgs& args) {
  const Attention a(args);
  return {dot(a.seen, args.head_dim + args.value_dim + (args.r ? args.rel_dim : 0)),
          a.logit_bytes(args) + (a.v + a.o + 2 * a.q / args.head_dim) * word};                // v o stats
}
// do v^T for ds, then a^T do = dv, ds k = dq, ds^T q = dk, ds r = dq_rel, ds^T q_rel = dr. Logits and weights, which
// the kernel computes again, are not counted.
Cost attention_backward(const AttentionGrads& d, const AttentionArgs& args, const real*, const real*, const real*) {
  const Attention a(args);
  const auto& [dq, dk, dv, dq_rel, dr, dgain, dbias, dtemperature, dq_bias, dq_rel_bias] = d;
  double bytes = written(dq_bias, a.q_bias) + written(dq_rel_bias, a.q_rel_bias) + written(dv, a.v) +
                 written(dq_rel, a.q_rel) + written(dr, a.r) + written(dgain, a.gain) + written(dbias, a.bias) +
                 written(dtemperature, a.temperature);
  bool of_q = false, of_k = false;
  for (int p = 0; p < args.pieces; ++p) {
    of_q |= bool(dq[p]), of_k |= bool(dk[p]);
    bytes += written(dq[p], a.q) + written(dk[p], a.k);
  }
  const bool logits = of_q || of_k || dq_rel || dr || dgain || dbias || dtemperature || dq_bias || dq_rel_bias;
  return {dot(a.seen, (logits + bool(dv)) * args.value_dim + (of_q + of_k) * args.head_dim +
                          (bool(dq_rel) + bool(dr)) * args.rel_dim),
          a.logit_bytes(args) + (a.v + 2 * a.o + 2 * a.q / args.head_dim) * word + bytes};   // v do o stats
}
Cost attention_weights(real*, const AttentionArgs& args) {
  const Attention a(args);
  return {dot(a.seen, args.head_dim + (args.r ? args.rel_dim : 0)),
          a.logit_bytes(args) + double(args.batch) * args.heads * args.queries * args.keys * word};
}
Cost attention_statistics(real*, const AttentionArgs& args) {
  const Attention a(args);
  return {dot(a.seen, args.head_dim + (args.r ? args.rel_dim : 0)),
          a.logit_bytes(args) + double(args.batch) * args.heads * args.queries * row_figures * word};
}

Cost geometric(real*, const real*, const real*, int64_t rows, int, int keys, bool) {
  return arrays(double(rows) * (2 * keys + 2));                                                // z a side
}
Cost geometric_backward(Accumulator dz, Accumulator dside, const real*, const real*, const real*, const real*,
                        int64_t rows, int, int keys, bool) {
  const double r = double(rows);
  return {0, r * (3 * keys + 2) * word + written(dz, r * keys) + written(dside, 2 * r)};       // da a z side
}

Cost squares(double*, const real*, int64_t n) { return arrays(double(n)); }
Cost adam(real*, real*, real*, const real*, int64_t n, const double*, AdamStep) {
  return arrays(7 * double(n));                                                                // p m v twice, g
}

}  // namespace poslab::cost
