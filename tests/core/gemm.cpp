// Products fill c with tiles of many sizes (core/cpu/gemm.h): up to 8 rows and 4 vectors, and smaller tiles at the
// edges. Each size is tested here with each kind of product and each Finish; by tools/coverage, other tests miss some
// of them. Factors are small whole numbers, so that every product is exact in every rounding.
#include <doctest/doctest.h>

#include <cmath>
#include <numeric>

#include "autograd/composed.h"
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/backend.h"
#include "core/random.h"
#include "tests/core/rounding.h"

namespace poslab::test {
namespace {

// Each is -1, 0 or 1: a sum of up to 256 of them fits the 8 bits of bf16.
Tensor small_numbers(Shape shape, uint32_t seed) {
  Rng rng({0, 29, seed});
  Tensor x(std::move(shape));
  for (int64_t e = 0; e < x.size(); ++e) x.data()[e] = real(int(rng.below(3)) - 1);
  return x;
}

struct Whole {
  int rows, columns;
  std::vector<long> at;
  long operator()(int i, int j) const { return at[size_t(i) * size_t(columns) + size_t(j)]; }
};
Whole whole(const Tensor& x) {
  Whole w{int(x.rows()), x.dim(-1), {}};
  for (const real v : x.values()) w.at.push_back(std::lround(v));
  return w;
}
// a b + bias; a, b or both may be transposed
template <class A, class B>
Whole product(int m, int n, int k, const A& a, const B& b, const Whole* bias = nullptr) {
  Whole c{m, n, {}};
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      long sum = bias ? (*bias)(0, j) : 0;
      for (int p = 0; p < k; ++p) sum += a(i, p) * b(p, j);
      c.at.push_back(sum);
    }
  return c;
}
auto transposed(const Whole& x) {
  return [&x](int i, int j) { return x(j, i); };
}
bool same(const Tensor& x, const Whole& expected) { return whole(x).at == expected.at; }

Tensor leaf(Tensor x) {
  x.require_grad();
  return x;
}

template <class Work>
void in_every_form(const Work& work) {
  on_each_isa([&] {
    work();
#ifndef POSLAB_DOUBLE
    for (const Rounding how : {Rounding::tf32x3, Rounding::tf32, Rounding::bf16}) {
      INFO(rounding_names[size_t(how)]);
      const MatmulPrecision as(Device::cpu, how);
      work();
      if (how != Rounding::bf16) continue;
      {
        INFO("by an instruction for pairs");
        const ByInstruction instruction;
        work();
      }
      INFO("emulated");
      const Emulated emulated;
      work();
    }
#endif
  });
}

// y = x w + b, and the gradients
void check_linear(int m, int in, int out) {
  const Tensor x = leaf(small_numbers({m, in}, 1)), w = leaf(small_numbers({in, out}, 2)),
               b = leaf(small_numbers({out}, 3)), dy = small_numbers({m, out}, 4);
  const Whole X = whole(x), W = whole(w), B = whole(b), DY = whole(dy);
  const Whole without = product(m, out, in, X, W), with = product(m, out, in, X, W, &B),
              dx = product(m, in, out, DY, transposed(W)), dw = product(in, out, m, transposed(X), DY);
  in_every_form([&] {
    const Tensor y = linear(x, w, b);
    CHECK(same(y, with));
    CHECK(same(linear(x.detach(), w.detach()), without));
    backward(sum_all(y * dy));
    CHECK(same(x.take_grad(), dx));
    CHECK(same(w.take_grad(), dw));
  });
}

// h = max(x w1 + b1, 0), y = h w2 + b2, and the gradients
void check_network(int m, int in, int d_ff, int out) {
  const Tensor x = leaf(small_numbers({m, in}, 1)), w1 = leaf(small_numbers({in, d_ff}, 2)),
               b1 = small_numbers({d_ff}, 3), w2 = leaf(small_numbers({d_ff, out}, 4)), b2 = small_numbers({out}, 5),
               dy = small_numbers({m, out}, 6);
  const Whole X = whole(x), W1 = whole(w1), W2 = whole(w2), B1 = whole(b1), B2 = whole(b2), DY = whole(dy);
  Whole h = product(m, d_ff, in, X, W1, &B1), dh = product(m, d_ff, out, DY, transposed(W2));
  for (size_t e = 0; e < h.at.size(); ++e)
    if (h.at[e] <= 0) h.at[e] = dh.at[e] = 0;
  const Whole expected = product(m, out, d_ff, h, W2, &B2), dx = product(m, in, d_ff, dh, transposed(W1)),
              dw1 = product(in, d_ff, m, transposed(X), dh), dw2 = product(d_ff, out, m, transposed(h), DY);
  in_every_form([&] {
    const Tensor y = feed_forward(x, w1, b1, w2, b2);
    CHECK(same(y, expected));
    backward(sum_all(y * dy));
    CHECK(same(x.take_grad(), dx));
    CHECK(same(w1.take_grad(), dw1));
    CHECK(same(w2.take_grad(), dw2));
  });
}

// Widths, in vectors of 16: 4 + 3, 4 + 2, 4 + 1, 3, 2, 1. Then half a vector, a quarter, and a single column.
constexpr int widths[] = {125, 109, 93, 61, 45, 29};
// 15 rows: tiles of 8, 4, 2 and 1, or of 6, 2 and 1. 11 rows: 6, 4 and 1. 7 rows are so few that bf16 does not pack b.
constexpr int heights[] = {15, 11, 7};

}  // namespace

TEST_CASE("products: tiles of every size, with every Finish, give exact sums of whole numbers in every rounding") {
  for (const int m : heights)
    for (const int n : widths)
      for (const int k : {6, 66}) {  // from 64 on c is prefetched
        INFO("rows ", m, ", columns ", n, ", inner size ", k);
        check_linear(m, k, n);
        check_network(m, k, n, 17);
      }
}

TEST_CASE("products: tiles of every size where attention adds weighted values") {
  on_each_isa([] {
    for (const int queries : {15, 11})
      for (const int n : widths) {
        const Tensor q = small_numbers({1, queries, 1, 8}, 1), k = small_numbers({1, 30, 1, 8}, 2),
                     v = small_numbers({1, 30, 1, n}, 3);
        INFO(queries, " queries, values of ", n);
        const Scores s{.pieces = {{q, k}}, .scale = real(0.25)};
        const std::vector<real> o = attention(s, v, {}).values(), expected = composed::attention(s, v, {}).values();
        for (size_t e = 0; e < o.size(); ++e) REQUIRE(std::abs(o[e] - expected[e]) < 1e-5);
      }
  });
}

}  // namespace poslab::test
