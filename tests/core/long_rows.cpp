// Kernels split their rows among threads, many short rows at a time. These tests have rows longer than one thread's
// share, sums longer than a block of rows, and elements that are not contiguous. All numbers are whole, so that results
// are exact.
#include <doctest/doctest.h>

#include <cmath>
#include <functional>

#include "autograd/ops.h"
#include "autograd/strided_loop.h"
#include "autograd/tape.h"
#include "core/backend.h"

namespace poslab::test {
namespace {

constexpr int long_row = 20001;  // more than a thread's share in max, 16,384; not a multiple of a vector's length

// 7 e plus the number of the row, modulo 17: 0, 7, 14, 4, ...
Tensor numbered(Shape shape) {
  Tensor x(std::move(shape));
  for (int64_t e = 0; e < x.size(); ++e) x.data()[e] = real((e * 7 + e / x.dim(-1)) % 17);
  return x;
}
Tensor wanted(Tensor x) {
  x.require_grad();
  return x;
}
int different(const Tensor& x, const std::function<double(int64_t)>& expected) {
  int n = 0;
  for (int64_t e = 0; e < x.size(); ++e) n += double(x.data()[e]) != expected(e);
  return n;
}

}  // namespace

TEST_CASE("kernels: rows that are longer than a thread's share of the work") {
  const int n = long_row;
  const Tensor x = wanted(numbered({3, n})), dy = numbered({3, n});

  const Tensor rows = gather(x, Ids({3}, {2, 0, 2}));
  CHECK(different(rows, [&](int64_t e) { return x.data()[(e < n || e >= 2 * n ? 2 * n : 0) + e % n]; }) == 0);
  backward(sum_all(rows * dy));
  CHECK(different(x.take_grad(), [&](int64_t e) {
          const int64_t row = e / n, j = e % n;
          return row == 0 ? dy.data()[n + j] : row == 1 ? 0 : double(dy.data()[j]) + dy.data()[2 * n + j];
        }) == 0);

  for (int row = 0; row < 3; ++row) x.data()[row * n + 19000 + row] = real(100 + row);
  const Tensor top = max(x);
  CHECK(top.values() == std::vector<real>{100, 101, 102});
  backward(sum_all(top));
  CHECK(different(x.take_grad(), [&](int64_t e) { return e % n == 19000 + e / n; }) == 0);

  const Tensor ones = wanted(Tensor::full({2, n}, 1)), running = scan(ones, 1);
  CHECK(different(running, [&](int64_t e) { return double(e % n + 1); }) == 0);
  backward(sum_all(running));
  CHECK(different(ones.take_grad(), [&](int64_t e) { return double(n - e % n); }) == 0);

  // A quarter turn: (x_0, x_1) -> (-x_1, x_0).
  const Tensor wide = numbered({1, 2, 1, 16384}), none = Tensor::full({1, 2, 8192}, 0),
               all = Tensor::full({1, 2, 8192}, 1);
  CHECK(different(rotate(wide, {none, all}, Pairing::interleaved),
                  [&](int64_t e) { return e % 2 ? double(wide.data()[e - 1]) : -double(wide.data()[e + 1]); }) == 0);

  // Keys on the left are visited from the nearest on, and each takes half of the remaining weight: 1/2, 1/4, ...
  const Tensor a = geometric(Tensor::full({1, n}, 0), Tensor::full({1, 2}, 0), {.causal = true, .offset = n - 1});
  CHECK(a.data()[n - 1] == 0);
  for (int k = 1; k < 20; ++k) CHECK(a.data()[n - 1 - k] == doctest::Approx(std::ldexp(1., -k)));
}

TEST_CASE("kernels: sums over more rows than a block has, and sums of numbers that are not adjacent") {
  const Tensor x = numbered({17, 1300, 3});  // 17 sums, each computed by one thread, block by block
  const Tensor y = sum(x, 1);
  const auto added_up = [&](int64_t e) {
    double all = 0;
    for (int64_t i = 0; i < 1300; ++i) all += double(x.data()[(e / 3 * 1300 + i) * 3 + e % 3]);
    return all;
  };
  CHECK(different(y, added_up) == 0);
  // Every third element. An op's tensors are dense, but the kernel accepts any strides.
  real total = 5;
  kernels(Device::cpu).sum({&total, false}, x.data(), strided_loop({1000}, {0}, {3}));
  double expected = 5;
  for (int i = 0; i < 1000; ++i) expected += double(x.data()[3 * i]);
  CHECK(double(total) == expected);
}

}  // namespace poslab::test
