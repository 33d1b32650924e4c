// Step 4: products, from three loops to blocks. core/cpu/naive_product.h, core/cpu/matmul.cpp, autograd/matmul.cpp
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "check.h"
#include "core/cpu/naive_product.h"

using namespace poslab;
using namespace course;

namespace {

// c_ij = sum_p a_ip b_pj, of parts: from <= p < to
Values product(int m, int n, int k, const Values& a, const Values& b, int from = 0, int to = -1) {
  Values c(size_t(m * n), 0.);
  for (int i = 0; i < m; ++i)
    for (int p = from; p < (to < 0 ? k : to); ++p)
      for (int j = 0; j < n; ++j) c[size_t(i * n + j)] += a[size_t(i * k + p)] * b[size_t(p * n + j)];
  return c;
}
Values transposed(int rows, int columns, const Values& x) {
  Values y(x.size());
  for (int i = 0; i < rows; ++i)
    for (int j = 0; j < columns; ++j) y[size_t(j * rows + i)] = x[size_t(i * columns + j)];
  return y;
}
Values plus(Values a, double c) {
  for (double& v : a) v += c;
  return a;
}
Values three_loops(int m, int n, int k, const Values& a, const Values& b, double before, bool add,
                   bool a_transposed = false) {
  const std::vector<real> ra = reals(a), rb = reals(b);
  std::vector<real> c(size_t(m * n), real(before));
  const baseline::Factor fa = a_transposed ? baseline::Factor{ra.data(), 1, m} : baseline::Factor{ra.data(), k, 1};
  baseline::NaiveProduct::multiply(m, n, k, fa, {rb.data(), n, 1}, c.data(), add);
  return of_reals(c);
}

}  // namespace

CASE("three loops, square") {
  const int n = 3;
  const Values a = whole(n * n, 1), b = whole(n * n, 2), c = product(n, n, n, a, b);
  check("c_ij = sum_p a_ip b_pj", {n, n}, three_loops(n, n, n, a, b, 100, false), c,
        {{"the old values of c are added; c is to be overwritten unless `add`", plus(c, 100)},
         {"the last p alone is left: = for +=", product(n, n, n, a, b, n - 1, n)},
         {"a is read transposed: it is a(i, p)", product(n, n, n, transposed(n, n, a), b)},
         {"b is read transposed: it is b(p, j)", product(n, n, n, a, transposed(n, n, b))},
         {"c is written transposed: c_ij lies at i n + j", transposed(n, n, c)},
         {"the sum runs over p < k - 1; the last one is missing", product(n, n, n, a, b, 0, n - 1)}});
}

CASE("three loops, add") {
  const int n = 3;
  const Values a = whole(n * n, 1), b = whole(n * n, 2), c = product(n, n, n, a, b);
  check("with `add`: c_ij += sum_p a_ip b_pj", {n, n}, three_loops(n, n, n, a, b, 100, true), plus(c, 100),
        {{"the old values of c are lost, although `add` is true", c}});
}

CASE("three loops, other sizes") {
  const int m = 2, n = 5, k = 4;
  const Values a = whole(m * k, 3), b = whole(k * n, 4);
  const Values c = product(m, n, k, a, b);
  Values short_rows(c.begin(), c.begin() + k);
  short_rows.insert(short_rows.end(), c.begin() + n, c.end()), short_rows.push_back(0);
  check("c_ij = sum_p a_ip b_pj, a (2, 4), b (4, 5)", {m, n}, three_loops(m, n, k, a, b, 0, false), c,
        {{"there are n numbers in a row of c, and not k", short_rows}});
  check("the same, for an a that is stored transposed", {m, n},
        three_loops(m, n, k, transposed(m, k, a), b, 0, false, true), product(m, n, k, a, b));
}

namespace {

constexpr int m = 40, k = 530, n = 525;  // b has more than 1 MB, so that it is multiplied in blocks

struct Large {
  Values a = whole(m * k, 5), b = whole(k * n, 6), c = product(m, n, k, a, b);
};
const Large& large() {
  static const Large all;
  return all;
}
// The sum over some p alone, with a's factor at p + a_off and b's factor at p + b_off
double before(int from, int to, int i, int j, int a_off = 0, int b_off = 0) {
  double sum = 0;
  for (int p = from; p < to; ++p) sum += large().a[size_t(i * k + p + a_off)] * large().b[size_t((p + b_off) * n + j)];
  return sum;
}
void compare(const std::string& formula, const Tensor& got, const Values& expected,
             const std::vector<Mistake>& m = {}) {
  check(formula, got, expected, m, 1e-5);
}

}  // namespace

CASE("blocks of a large product") {
  clear_tape();
  const Tensor c = matmul(Tensor::from({m, k}, large().a), Tensor::from({k, n}, large().b));
  Values last(large().c.size()), first = last, same_a = last, same_b = last, same_columns = last;
  for (int i = 0; i < m; ++i)
    for (int j = 0; j < n; ++j) {
      const size_t at = size_t(i * n + j);
      last[at] = before(512, k, i, j);
      first[at] = large().c[at] - last[at];
      same_a[at] = first[at] + before(512, k, i, j, -512);
      same_b[at] = first[at] + before(512, k, i, j, 0, -512);
      same_columns[at] = large().c[size_t(i * n + j % 512)];
    }
  compare("c_ij = sum_p a_ip b_pj, 512 of the inner places at a time", c, large().c,
          {{"the second block of inner places has overwritten the first: give `add` to multiply", last},
           {"the first block of inner places alone", first},
           {"the second block reads the first inner places of a once more: give inner place `from` to left()", same_a},
           {"the second block has the first rows of b once more: begin at row `from` of b", same_b},
           {"the second panels have the first columns of b once more: begin at column `j` of b", same_columns}});
}

CASE("blocks of many rows") {
  const int rows = 200, above = 192, room = 384, inner = 512, columns = 520;  // a block has 192 rows
  const Values a = whole(room * inner, 12), b = whole(inner * columns, 13);
  const std::vector<real> ra = reals(a), rb = reals(b);
  std::vector<real> c(size_t(room * columns), real(7));
  kernels(Device::cpu).matmul({c.data(), true}, ra.data(), rb.data(), {.m = rows, .n = columns, .k = inner});
  const int some = rows - above;
  const auto product_of_rows = [&](int from) {
    return product(some, columns, inner, Values(a.begin() + from * inner, a.begin() + (from + some) * inner), b);
  };
  const auto last = c.begin() + above * columns, end = c.begin() + rows * columns;
  check("c_ij = sum_p a_ip b_pj, of the rows from 192 on", {some, columns}, of_reals({last, end}),
        product_of_rows(above),
        {{"the second block has the first rows of a: give row `i` to left()", product_of_rows(0)},
         {"the second block is missing: it begins at row `i` of c", Values(size_t(some * columns), 7)}});
  check("numbers written below the last row of c",
        double(std::count_if(end, c.end(), [](real v) { return v != 7; }) > 0), 0,
        {{"the last block has fewer rows: at most p.m - i", {1}}});
}

CASE("blocks where b is stored transposed") {
  clear_tape();
  const int rows = 600, inner = 500, columns = 40;
  const Values a = whole(columns * rows, 7), b = whole(inner * rows, 8);  // c = a b^T: (40, 500)
  Tensor left = Tensor::from({columns, inner}, whole(columns * inner, 7)).require_grad();
  const Tensor right = Tensor::from({inner, rows}, b);
  const Tensor c = matmul(left, right);
  backward(sum_all(c * Tensor::from({columns, rows}, a)));
  compare("da = dc b^T", left.grad(), product(columns, inner, rows, a, transposed(inner, rows, b)),
          {{"b is read as if it were not stored transposed: p.b_transposed is not read",
            product(columns, inner, rows, a, b)}});
}

CASE("blocks where a is stored transposed") {
  clear_tape();
  const int rows = 530, inner = 40, columns = 520;
  const Values a = whole(rows * rows, 9), dc = whole(rows * columns, 10);
  const Tensor left = Tensor::from({rows, rows}, a);
  Tensor right = Tensor::from({rows, columns}, whole(rows * columns, 11)).require_grad();
  backward(sum_all(matmul(left, right) * Tensor::from({rows, columns}, dc)));
  const Values some = values(right.grad());
  const Values a_t = transposed(rows, rows, a);
  compare("db = a^T dc, its first 40 rows",
          Tensor::from({inner, columns}, Values(some.begin(), some.begin() + inner * columns)),
          product(inner, columns, rows, Values(a_t.begin(), a_t.begin() + inner * rows), dc));
}

CASE("the derivatives of a product") {
  clear_tape();
  const int n = 3;
  const Values a = whole(n * n, 1), b = whole(n * n, 2), dc = whole(n * n, 3);
  Tensor left = Tensor::from({n, n}, a), right = Tensor::from({n, n}, b);
  left.require_grad(), right.require_grad();
  backward(sum_all(matmul(left, right) * Tensor::from({n, n}, dc)));
  check("da = dc b^T", left.grad(), product(n, n, n, dc, transposed(n, n, b)),
        {{"b is not transposed", product(n, n, n, dc, b)},
         {"the factors stand the other way round: it is dc b^T, not b^T dc", product(n, n, n, transposed(n, n, b), dc)},
         {"that is a^T dc, the derivative with respect to b", product(n, n, n, transposed(n, n, a), dc)}});
  check("db = a^T dc", right.grad(), product(n, n, n, transposed(n, n, a), dc),
        {{"a is not transposed", product(n, n, n, a, dc)},
         {"the factors stand the other way round: it is a^T dc, not dc a^T", product(n, n, n, dc, transposed(n, n, a))},
         {"that is dc b^T, the derivative with respect to a", product(n, n, n, dc, transposed(n, n, b))}});
}

CASE("the derivatives of a product with a constant") {
  const Tensor one = Tensor::full({2, 2}, 1);
  const Tensor left = Tensor::full({2, 2}, 1).require_grad(), right = Tensor::full({2, 2}, 1).require_grad();
  explain_end(
      "a gradient is written where there is no room for one: a factor wants no gradient where its accumulator is "
      "null");
  clear_tape();
  backward(sum_all(matmul(left, one)));
  check("da = dc b^T", left.grad(), {2, 2, 2, 2});
  backward(sum_all(matmul(one, right)));
  check("db = a^T dc", right.grad(), {2, 2, 2, 2});
}

CASE("the derivatives of a product of other sizes, in batches") {
  clear_tape();
  const int B = 2, m = 2, k = 3, n = 4;
  const Values a = whole(B * m * k, 1), b = whole(B * k * n, 2), dc = whole(B * m * n, 3);
  Tensor left = Tensor::from({B, m, k}, a), right = Tensor::from({B, k, n}, b);
  left.require_grad(), right.require_grad();
  backward(sum_all(matmul(left, right) * Tensor::from({B, m, n}, dc)));
  Values da, db;
  const auto part = [](const Values& x, int batch, int size) {
    return Values(x.begin() + batch * size, x.begin() + (batch + 1) * size);
  };
  for (int s = 0; s < B; ++s) {
    const Values d = part(dc, s, m * n);
    const Values one = product(m, k, n, d, transposed(k, n, part(b, s, k * n)));
    const Values other = product(k, n, m, transposed(m, k, part(a, s, m * k)), d);
    da.insert(da.end(), one.begin(), one.end()), db.insert(db.end(), other.begin(), other.end());
  }
  check("da = dc b^T, for each of two matrices: m, n, k of this product are 2, 3, 4", left.grad(), da);
  check("db = a^T dc, for each of two matrices: m, n, k of this product are 3, 4, 2", right.grad(), db);
}
