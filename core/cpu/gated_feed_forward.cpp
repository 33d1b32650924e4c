// The gated feed-forward network, forward and backward: a = x w1 + b1, c = x w3 + b3, y = (act(a) c) w2 + b2. a and c
// are kept in memory; act(a) c and all gradients exist only in the cache, 96 rows and 64 columns at a time.
#include "core/cpu/activations.h"
#include "core/cpu/column_blocks.h"
#include "core/cpu/rows.h"

namespace poslab::POSLAB_ISA {
namespace {

// Scratch buffers: weights on the calling thread, and on each thread the values of a block of the hidden layer.
enum Buffer { weights1_buffer = column_blocks_buffer, weights3_buffer, weights2_buffer, block_buffer };

// A block of the hidden layer: m rows from row `from` on, and n <= 64 columns from column j on.
struct HiddenBlock {
  int64_t from;
  int m, j, n;
};

// Calls f(index in a and c, index in the block, number of elements) for each vector of the block.
template <class F>
void for_block(const GatedArgs& g, const HiddenBlock& b, const F& f) {
  for (int i = 0; i < b.m; ++i)
    for_vectors(b.n, [&](int e, int count) { f((b.from + i) * g.d_ff + b.j + e, i * columns + e, count); });
}

// h = act(a) c
template <class Act>
void gate_block(real* h, const real* a, const real* c, const GatedArgs& g, const HiddenBlock& b) {
  for_block(g, b, [=](int64_t e, int place, int count) {
    store_some(h + place, Act()(load_some(a + e, count)).value * load_some(c + e, count), count);
  });
}
// da holds dh:   h = act(a) c   da = dh c act'(a)   dc = dh act(a)
template <class Act>
void gate_block_backward(real* h, real* da, real* dc, const real* a, const real* c, const GatedArgs& g,
                         const HiddenBlock& b) {
  for_block(g, b, [=](int64_t e, int place, int count) {
    const Vec dh = load_some(da + place, count), ce = load_some(c + e, count);
    const Activated f = Act()(load_some(a + e, count));
    store_some(h + place, f.value * ce, count);
    store_some(da + place, dh * ce * f.slope, count);
    store_some(dc + place, dh * f.value, count);
  });
}

}  // namespace

void gated_feed_forward(real* y, real* a, real* c, const GatedArgs& g) {
  const Multiply multiply;
  const ColumnBlocks w1 = to_column_blocks(multiply, weights1_buffer, g.rows, g.w1, g.in, g.d_ff);
  const ColumnBlocks w3 = to_column_blocks(multiply, weights3_buffer, g.rows, g.w3, g.in, g.d_ff);
  const ColumnBlocks w2 = to_column_blocks(multiply, weights2_buffer, g.rows, g.w2, g.d_ff, g.out);
  const auto gate = with_activation(g.gate, [](auto act) { return &gate_block<decltype(act)>; });
  parallel_ranges(g.rows, row_block, [&](int64_t from, int64_t to) {
    const int m = int(to - from);
    const Left x = multiply.left(block_pairs1, m, g.in, {g.x + from * g.in, g.in, 1});
    real *h = scratch(block_buffer, int64_t(row_block) * columns), *ys = y + from * g.out;
    for (int s = 0; s < w1.count(); ++s) {
      const HiddenBlock b{from, m, s * columns, w1.width(s)};
      const int64_t at = from * g.d_ff + b.j;
      multiply(m, b.n, g.in, x, w1[s], a + at, g.d_ff, {.bias = g.b1 ? g.b1 + b.j : nullptr});
      multiply(m, b.n, g.in, x, w3[s], c + at, g.d_ff, {.bias = g.b3 ? g.b3 + b.j : nullptr});
      gate(h, a, c, g, b);
      const Left hs = multiply.left(block_pairs2, m, b.n, {h, columns, 1});
      const ColumnBlocks w2s = from_row(multiply, w2, b.j);
      const Finish first{.bias = g.b2}, more{.add = true};
      multiply_blocks(multiply, m, b.n, hs, w2s, ys, g.out, s == 0 ? first : more);
    }
  });
}

void gated_feed_forward_backward(const GatedGrads& d, const real* dy, const real* a, const real* c,
                                 const GatedArgs& g) {
  const Multiply multiply;
  const int in = g.in, d_ff = g.d_ff, out = g.out;
  const int64_t n1 = int64_t(in) * d_ff, n2 = int64_t(d_ff) * out;
  const int64_t at_w3 = n1, at_b1 = at_w3 + n1, at_b3 = at_b1 + d_ff, at_w2 = at_b3 + d_ff, at_b2 = at_w2 + n2;
  const PartialSums partial_sums(g.rows, at_b2 + out);
  const auto transposed = [&](int buffer, const real* w, int rows, int columns) {
    return transposed_to_column_blocks(multiply, buffer, transposed_buffer, shared_pairs, w, rows, columns);
  };
  const ColumnBlocks w1 = transposed(weights1_buffer, g.w1, in, d_ff);
  const ColumnBlocks w2 = transposed(weights2_buffer, g.w2, d_ff, out);
  const ColumnBlocks w3 = transposed(weights3_buffer, g.w3, in, d_ff);
  const auto gate = with_activation(g.gate, [](auto act) { return &gate_block_backward<decltype(act)>; });
  partial_sums.run([&](real* partial, int64_t from, int m, bool add) {
    const real *dys = dy + from * out, *x = g.x + from * in;
    constexpr int64_t size = int64_t(row_block) * columns;
    real *h = scratch(block_buffer, 3 * size), *da = h + size, *dc = da + size;
    const Left of_dys = multiply.left(block_pairs1, m, out, {dys, out, 1});
    const Left of_xs = multiply.left(block_pairs2, in, m, {x, 1, in});
    const Right right_dys = multiply.right(block_pairs5, row_block, m, out, dys, out);
    for (int s = 0; s < w2.count(); ++s) {
      const HiddenBlock b{from, m, s * columns, w2.width(s)};
      multiply(m, b.n, out, of_dys, w2[s], da, columns, {});
      gate(h, da, dc, a, c, g, b);
      const auto to_input = [&](const real* dys, const ColumnBlocks& w, bool more) {
        multiply_blocks(multiply, m, b.n, multiply.left(block_pairs3, m, b.n, {dys, columns, 1}),
                        from_row(multiply, w, b.j), d.x.at + from * in, in, {.add = more});
      };
      if (d.x) to_input(da, w1, s > 0 || !d.x.empty), to_input(dc, w3, true);
      const auto to_weights = [&](const real* dys, real* to) {
        multiply(in, b.n, m, of_xs, multiply.right(block_pairs4, in, m, b.n, dys, columns), to + b.j, d_ff,
                 {.add = add});
      };
      if (d.w1) to_weights(da, partial);
      if (d.w3) to_weights(dc, partial + at_w3);
      if (d.b1) sum_of_rows(partial + at_b1 + b.j, da, m, b.n, columns, add);
      if (d.b3) sum_of_rows(partial + at_b3 + b.j, dc, m, b.n, columns, add);
      if (d.w2)
        multiply(b.n, out, m, multiply.left(block_pairs3, b.n, m, {h, 1, columns}), right_dys,
                 partial + at_w2 + int64_t(b.j) * out, out, {.add = add});
    }
    if (d.b2) sum_of_rows(partial + at_b2, dys, m, out, out, add);
  });
  partial_sums.add_up(d.w1, 0, n1);
  partial_sums.add_up(d.w3, at_w3, n1);
  partial_sums.add_up(d.b1, at_b1, d_ff);
  partial_sums.add_up(d.b3, at_b3, d_ff);
  partial_sums.add_up(d.w2, at_w2, n2);
  partial_sums.add_up(d.b2, at_b2, out);
}

}  // namespace poslab::POSLAB_ISA
