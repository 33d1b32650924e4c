// The feed-forward network of a transformer, forward and backward: a strip of the wide layer stays in cache between the two
// products, and its gradient is never stored as a whole. Rows of `middle` reals are worked off in stripes of 64 columns that
// lie by themselves: in place, one stripe's rows would fall into the same few lines of the first cache.
#include "core/cpu/strips.h"

namespace poslab::POSLAB_ISA {
namespace {

constexpr int columns = 64;

// Stripe s of n columns: where it starts, and how wide it is.
struct Stripes {
  int rows, n;
  int count() const { return (n + columns - 1) / columns; }
  int width(int s) const { return int(at_most(columns, n - s * columns)); }
  int64_t size() const { return int64_t(count()) * rows * columns; }
  int64_t start(int s) const { return int64_t(s) * rows * columns; }
};

// w: (rows, n) -> its stripes, each (rows, 64)
const real* in_stripes(int slot, const real* w, const Stripes& to) {
  real* at = scratch(slot, to.size());
  for (int s = 0; s < to.count(); ++s)
    for (int i = 0; i < to.rows; ++i)
      __builtin_memcpy(at + to.start(s) + int64_t(i) * columns, w + int64_t(i) * to.n + s * columns, size_t(to.width(s)) * sizeof(real));
  return at;
}

}  // namespace

// wide = max(x w1 + b1, 0)   y = wide w2 + b2
void feed_forward(real* y, real* wide, const real* x, const real* w1, const real* b1, const real* w2, const real* b2, int64_t rows, int in, int middle, int out) {
  const Stripes stripes{in, middle};
  const real* w1_stripes = in_stripes(stripes_slot, w1, stripes);
  parallel_ranges(rows, strip, [&](int64_t from, int64_t to) {
    const int m = int(to - from);
    real* h = wide + from * middle;
    for (int s = 0; s < stripes.count(); ++s)
      gemm(m, stripes.width(s), in, {x + from * in, in, 1}, w1_stripes + stripes.start(s), columns, h + s * columns, middle,
           WithBias{b1 + s * columns, 0});
    gemm(m, out, middle, {h, middle, 1}, w2, out, y + from * out, out, WithBias{b2, lowest});
  });
}

// dh = dy w2^T [wide > 0]   dx += dh w1^T   dw1 += x^T dh   db1 += rows of dh   dw2 += wide^T dy   db2 += rows of dy
void feed_forward_backward(Sum dx, Sum dw1, Sum db1, Sum dw2, Sum db2, const real* dy, const real* x, const real* wide, const real* w1, const real* w2, int64_t rows, int in, int middle, int out) {
  const int64_t n1 = int64_t(in) * middle, n2 = int64_t(middle) * out;
  const int64_t at_b1 = n1, at_w2 = at_b1 + middle, at_b2 = at_w2 + n2;
  const Slices slices(rows, at_b2 + out);
  real *w1_turned = scratch(turned_slot, n1), *w2_turned = scratch(turned2_slot, n2);       // (middle, in), (out, middle)
  turn(in, middle, w1, middle, w1_turned, in);
  turn(middle, out, w2, out, w2_turned, middle);
  const real* w2_stripes = in_stripes(stripes_slot, w2_turned, {out, middle});
  slices.run([&](real* partial, int64_t from, int m, bool add) {
    const real *dys = dy + from * out, *xs = x + from * in, *h = wide + from * middle;
    real* dh = scratch(hidden_slot, int64_t(strip) * columns);
    const Stripes stripes{out, middle};
    for (int s = 0; s < stripes.count(); ++s) {
      const int n = stripes.width(s), j = s * columns;
      gemm(m, n, out, {dys, out, 1}, w2_stripes + stripes.start(s), columns, dh, columns, Gated{h + j, middle});
      if (dx) gemm(m, in, n, {dh, columns, 1}, w1_turned + int64_t(j) * in, in, dx.at + from * in, in, s > 0 || !dx.empty);
      if (dw1) gemm(in, n, m, {xs, 1, in}, dh, columns, partial + j, middle, add);
      if (db1) sum_of_rows(partial + at_b1 + j, dh, m, n, columns, add);
    }
    if (dw2) gemm(middle, out, m, {h, 1, middle}, dys, out, partial + at_w2, out, add);
    if (db2) sum_of_rows(partial + at_b2, dys, m, out, out, add);
  });
  slices.add_up(dw1, 0, n1);
  slices.add_up(db1, at_b1, middle);
  slices.add_up(dw2, at_w2, n2);
  slices.add_up(db2, at_b2, out);
}

}  // namespace poslab::POSLAB_ISA
