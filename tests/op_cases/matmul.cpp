// matmul, batched and shared.
#include "tests/op_cases/reference.h"

namespace poslab::test {
namespace {

const Cases matmul_cases([](std::vector<OpCase>& all) {
  struct Sizes {
    Shape batch;
    bool shared;
    int m, k, n;
  };
  const std::vector<Sizes> sizes = {
      {{}, true, 1, 1, 1},        {{}, true, 31, 33, 7},       {{}, true, 33, 1, 65},      {{}, true, 257, 31, 33},
      {{}, true, 64, 64, 64},     {{}, true, 7, 257, 3},       {{3}, true, 5, 8, 31},      {{3}, false, 5, 8, 31},
      {{2, 4}, false, 33, 8, 33}, {{2, 4}, false, 40, 40, 8},  {{2, 3}, true, 9, 31, 64},  {{1}, false, 1, 300, 1},
      {{}, true, 300, 300, 300},  {{}, true, 2500, 16, 40},    {{17}, false, 130, 20, 70},
      {{200}, false, 40, 3, 5}};        // so many rows that a GPU uses tiles of 64 rows
  for (const auto& [batch, shared, m, k, n] : sizes) {
    Shape a = batch, b = shared ? Shape{} : batch, y = batch;
    a.insert(a.end(), {m, k}), b.insert(b.end(), {k, n}), y.insert(y.end(), {m, n});
    const int64_t count = size_of(batch);
    OpCase c{"matmul", to_string(a) + " " + to_string(b), {a, b}, [](auto& x) { return matmul(x[0], x[1]); }};
    c.reference = [=, m = m, k = k, n = n, shared = shared](Arrays x) {
      Array product(y);
      for (int64_t i = 0; i < count; ++i)
        multiply(&product.at[size_t(i * m * n)], &x[0].at[size_t(i * m * k)],
                 &x[1].at[size_t(shared ? 0 : i * k * n)], m, k, n);
      return product;
    };
    c.flops = 2. * double(count) * m * k * n;
    all.push_back(c);
  }
});

const Cases matmul_speed(
    [](std::vector<OpCase>& all) {
      const std::pair<Shape, Shape> sizes[] = {
          {{1024, 40, 8}, {1024, 8, 40}}, {{1024, 40, 40}, {1024, 40, 8}}, {{512, 512}, {512, 512}}};
      for (const auto& [a, b] : sizes) {
        all.push_back(
            {"matmul", to_string(a) + " " + to_string(b), {a, b}, [](auto& x) { return matmul(x[0], x[1]); }});
        all.back().flops = 2. * double(size_of(a)) * b.back();
      }
    },
    For::bench);

}  // namespace
}  // namespace poslab::test
