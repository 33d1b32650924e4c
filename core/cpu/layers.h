// Kernels of whole layers for the engines `naive` and `openblas`: the formulas of core/kernels.def with any matrix
// product By::multiply, a few hundred rows at a time. The kernels of `own`, which keep a block of rows in the cache
// from the first operation to the last, are in matmul.cpp, linear.cpp, feed_forward.cpp and gated_feed_forward.cpp.
#pragma once
#include "core/cpu/activations.h"
#include "core/cpu/naive_product.h"
#include "core/cpu/row_blocks.h"
#include "core/cpu/rows.h"

namespace poslab::POSLAB_ISA {

template <class By>
struct Layers {
  static constexpr int piece = 256;    // rows that a thread takes at a time; results do not depend on the thread count
  enum Buffer { hidden_buffer = 5, gradient_buffer, gradient2_buffer };

  static Factor as_stored(const real* x, int columns) { return {x, columns, 1}; }
  static Factor transposed(const real* x, int columns) { return {x, 1, columns}; }

  // y = x w + b, b null for none: y starts as b, and x w is added      x: (m, in)   w: (in, out)   b: (out)
  static void layer(int m, int in, int out, const real* x, const real* w, const real* b, real* y) {
    for (int i = 0; i < m && b; ++i) std::copy(b, b + out, y + int64_t(i) * out);
    By::multiply(m, out, in, as_stored(x, in), as_stored(w, out), y, b != nullptr);
  }
  // dx += dy w^T                                                       dy: (m, out)   w: (in, out)   dx: (m, in)
  static void to_input(int m, int in, int out, const real* dy, const real* w, real* dx, bool add) {
    By::multiply(m, in, out, as_stored(dy, out), transposed(w, out), dx, add);
  }
  // dw += x^T dy                                                       x: (m, in)   dy: (m, out)   dw: (in, out)
  static void to_weights(int m, int in, int out, const real* x, const real* dy, real* dw, bool add) {
    By::multiply(in, out, m, transposed(x, in), as_stored(dy, out), dw, add);
  }

  static void matmul(Accumulator c, const real* a, const real* b, const Product& p) {
    const int64_t pieces = (p.m + piece - 1) / piece;
    parallel_for(pieces * p.batch, [&](int64_t which) {
      const int64_t batch = which / pieces;
      const int i = int(which % pieces) * piece, m = int(smaller_of(piece, p.m - i));
      const real *am = a + batch * p.a_step, *bm = b + batch * p.b_step;
      By::multiply(m, p.n, p.k, p.a_transposed ? transposed(am + i, p.m) : as_stored(am + int64_t(i) * p.k, p.k),
                   p.b_transposed ? transposed(bm, p.k) : as_stored(bm, p.n),
                   c.at + batch * p.c_step + int64_t(i) * p.n, !c.empty);
    });
  }

  static void linear(real* y, const real* x, const real* w, const real* b, int64_t rows, int in, int out) {
    parallel_ranges(rows, piece, [&](int64_t from, int64_t to) {
      layer(int(to - from), in, out, x + from * in, w, b, y + from * out);
    });
  }

  static void linear_backward(Accumulator dx, Accumulator dw, Accumulator db, const real* dy, const real* x,
                              const real* w, int64_t rows, int in, int out) {
    const int64_t weights = int64_t(in) * out;
    const PartialSums sums(rows, weights + out, piece);
    sums.run([&](real* sum, int64_t from, int m, bool add) {
      const real* dys = dy + from * out;
      if (dx) to_input(m, in, out, dys, w, dx.at + from * in, !dx.empty);
      if (dw) to_weights(m, in, out, x + from * in, dys, sum, add);
      if (db) sum_of_rows(sum + weights, dys, m, out, out, add);
    });
    sums.add_up(dw, 0, weights);
    sums.add_up(db, weights, out);
  }

  static void feed_forward(real* y, real* hidden, const real* x, const real* w1, const real* b1, const real* w2,
                           const real* b2, int64_t rows, int in, int d_ff, int out) {
    parallel_ranges(rows, piece, [&](int64_t from, int64_t to) {
      const int m = int(to - from);
      real* h = hidden + from * d_ff;
      layer(m, in, d_ff, x + from * in, w1, b1, h);
      for (int64_t e = 0; e < int64_t(m) * d_ff; ++e) h[e] = h[e] < 0 ? 0 : h[e];
      layer(m, d_ff, out, h, w2, b2, y + from * out);
    });
  }

  static void feed_forward_backward(Accumulator dx, Accumulator dw1, Accumulator db1, Accumulator dw2, Accumulator db2,
                                    const real* dy, const real* x, const real* hidden, const real* w1, const real* w2,
                                    int64_t rows, int in, int d_ff, int out) {
    const int64_t n1 = int64_t(in) * d_ff, n2 = int64_t(d_ff) * out;
    const int64_t at_b1 = n1, at_w2 = at_b1 + d_ff, at_b2 = at_w2 + n2;
    const PartialSums sums(rows, at_b2 + out, piece);
    sums.run([&](real* sum, int64_t from, int m, bool add) {
      const real *dys = dy + from * out, *h = hidden + from * d_ff;
      const int64_t n = int64_t(m) * d_ff;
      real* dh = scratch(gradient_buffer, n);
      to_input(m, d_ff, out, dys, w2, dh, false);
      for (int64_t e = 0; e < n; ++e) dh[e] = h[e] > 0 ? dh[e] : 0;
      if (dx) to_input(m, in, d_ff, dh, w1, dx.at + from * in, !dx.empty);
      if (dw1) to_weights(m, in, d_ff, x + from * in, dh, sum, add);
      if (db1) sum_of_rows(sum + at_b1, dh, m, d_ff, d_ff, add);
      if (dw2) to_weights(m, d_ff, out, h, dys, sum + at_w2, add);
      if (db2) sum_of_rows(sum + at_b2, dys, m, out, out, add);
    });
    sums.add_up(dw1, 0, n1);
    sums.add_up(db1, at_b1, d_ff);
    sums.add_up(dw2, at_w2, n2);
    sums.add_up(db2, at_b2, out);
  }

  static void gated_feed_forward(real* y, real* a, real* c, const GatedArgs& g) {
    parallel_ranges(g.rows, piece, [&](int64_t from, int64_t to) {
      const int m = int(to - from);
      const int64_t first = from * g.d_ff;
      real* h = scratch(hidden_buffer, int64_t(m) * g.d_ff);
      layer(m, g.in, g.d_ff, g.x + from * g.in, g.w1, g.b1, a + first);
      layer(m, g.in, g.d_ff, g.x + from * g.in, g.w3, g.b3, c + first);
      with_activation(g.gate, [&](auto act) {
        for_vectors(m * g.d_ff, [&](int e, int n) {
          store_some(h + e, act(load_some(a + first + e, n)).value * load_some(c + first + e, n), n);
        });
      });
      layer(m, g.d_ff, g.out, h, g.w2, g.b2, y + from * g.out);
    });
  }

  static void gated_feed_forward_backward(const GatedGrads& d, const real* dy, const real* a, const real* c,
                                          const GatedArgs& g) {
    const int in = g.in, d_ff = g.d_ff, out = g.out;
    const int64_t n1 = int64_t(in) * d_ff, n2 = int64_t(d_ff) * out;
    const int64_t at_w3 = n1, at_b1 = at_w3 + n1, at_b3 = at_b1 + d_ff, at_w2 = at_b3 + d_ff, at_b2 = at_w2 + n2;
    const PartialSums sums(g.rows, at_b2 + out, piece);
    sums.run([&](real* sum, int64_t from, int m, bool add) {
      const real *dys = dy + from * out, *x = g.x + from * in, *as = a + from * d_ff, *cs = c + from * d_ff;
      const int64_t n = int64_t(m) * d_ff;
      real *h = scratch(hidden_buffer, n), *da = scratch(gradient_buffer, n), *dc = scratch(gradient2_buffer, n);
      to_input(m, d_ff, out, dys, g.w2, da, false);                  // dh; da replaces it
      with_activation(g.gate, [&](auto act) {
        for_vectors(m * d_ff, [&](int e, int count) {
          const Vec dh = load_some(da + e, count), ce = load_some(cs + e, count);
          const Activated f = act(load_some(as + e, count));
          store_some(h + e, f.value * ce, count);
          store_some(da + e, dh * ce * f.slope, count);
          store_some(dc + e, dh * f.value, count);
        });
      });
      if (d.x) {
        to_input(m, in, d_ff, da, g.w1, d.x.at + from * in, !d.x.empty);
        to_input(m, in, d_ff, dc, g.w3, d.x.at + from * in, true);
      }
      if (d.w1) to_weights(m, in, d_ff, x, da, sum, add);
      if (d.w3) to_weights(m, in, d_ff, x, dc, sum + at_w3, add);
      if (d.b1) sum_of_rows(sum + at_b1, da, m, d_ff, d_ff, add);
      if (d.b3) sum_of_rows(sum + at_b3, dc, m, d_ff, d_ff, add);
      if (d.w2) to_weights(m, d_ff, out, h, dys, sum + at_w2, add);
      if (d.b2) sum_of_rows(sum + at_b2, dys, m, out, out, add);
    });
    sums.add_up(d.w1, 0, n1);
    sums.add_up(d.w3, at_w3, n1);
    sums.add_up(d.b1, at_b1, d_ff);
    sums.add_up(d.b3, at_b3, d_ff);
    sums.add_up(d.w2, at_w2, n2);
    sums.add_up(d.b2, at_b2, out);
  }
};

}  // namespace poslab::POSLAB_ISA
