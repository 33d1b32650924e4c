// Ops on rows: max softmax norm residual_norm cross_entropy.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include "core/random.h"
#include "tests/op_case.h"

namespace poslab::test {
namespace {

const std::vector<Shape> shapes = {{1, 1}, {1, 7}, {31, 2}, {3, 31}, {5, 33}, {2, 3, 16}, {2, 257}, {700, 64}, {3, 9000}};

// y = f(row) for every row of x, f: (double* y, const double* x, int n)
template <class F>
Array for_rows(const Array& x, Array y, F f) {
  const size_t n = size_t(x.shape.back()), rows = x.at.size() / n, width = y.at.size() / rows;
  for (size_t i = 0; i < rows; ++i) f(&y.at[i * width], &x.at[i * n], int(n));
  return y;
}
Shape without_last(Shape shape) {
  shape.pop_back();
  return shape;
}
Shape last_one(Shape shape) {
  shape.back() = 1;
  return shape;
}

void softmax_row(double* y, const double* x, int n) {
  double z = 0;
  for (int j = 0; j < n; ++j) z += std::exp(x[j]);
  for (int j = 0; j < n; ++j) y[j] = std::exp(x[j]) / z;
}

const Cases maxima([](std::vector<OpCase>& all) {
  for (const Shape& shape : shapes) {
    all.push_back({"max", to_string(shape), {shape}, [](auto& x) { return max(x[0]); }, [](Arrays x) {
                     return for_rows(x[0], Array(last_one(x[0].shape)),
                                     [](double* y, const double* row, int n) { *y = *std::max_element(row, row + n); });
                   }, {}, {}, 1e-30});
    all.back().step = 1e-7;
  }
});

const Cases softmaxes([](std::vector<OpCase>& all) {
  for (const Shape& shape : shapes)
    for (const double size : {1., 20.})
      all.push_back({"softmax", fmt::format("{} up to {}", to_string(shape), size), {shape}, [](auto& x) { return softmax(x[0]); },
                     [](Arrays x) { return for_rows(x[0], Array(x[0].shape), softmax_row); }, {}, {{-size, size}}, 1e-3});
});

// gain (x - mean) / sqrt(variance + 1e-5) + bias
Array norm_reference(const Array& x, const Array& gain, const Array& bias) {
  return for_rows(x, Array(x.shape), [&](double* y, const double* row, int n) {
    double mean = 0, variance = 0;
    for (int j = 0; j < n; ++j) mean += row[j] / n;
    for (int j = 0; j < n; ++j) variance += (row[j] - mean) * (row[j] - mean) / n;
    for (int j = 0; j < n; ++j) y[j] = gain.at[size_t(j)] * (row[j] - mean) / std::sqrt(variance + 1e-5) + bias.at[size_t(j)];
  });
}

// word e % 8 of philox(e / 8) decides over element e (core/kernels.h)
double dropout_factor(int64_t e, const Dropout& d) {
  const uint32_t threshold = uint32_t(std::lround(65536 * double(d.rate)));
  const uint32_t word = philox(uint64_t(e / 8), d.stream).at[e % 8 / 2] >> (e % 2 * 16) & 0xFFFF;
  return word < threshold ? 0 : 65536. / (65536 - threshold);
}

const Cases norms([](std::vector<OpCase>& all) {
  for (const Shape& shape : std::vector<Shape>{{1, 2}, {31, 3}, {3, 31}, {5, 33}, {2, 3, 16}, {2, 257}, {700, 64}, {3, 5000}}) {
    const Shape row = {shape.back()};
    all.push_back({"norm", to_string(shape), {shape, row, row}, [](auto& x) { return norm(x[0], x[1], x[2]); },
                   [](Arrays x) { return norm_reference(x[0], x[1], x[2]); },
                   [](auto& x) { return composed::norm(x[0], x[1], x[2]); }, {{-1, 1}, {0.5, 1.5}}});
    for (const double rate : {0., 0.1, 0.5}) {
      const Dropout drop{real(rate), {17, 3, 9}};
      all.push_back({"residual_norm", fmt::format("{} dropout {}", to_string(shape), rate), {shape, shape, row, row},
                     [drop](auto& x) { return residual_norm(x[0], x[1], x[2], x[3], drop); },
                     [drop](Arrays x) {
                       for (size_t e = 0; e < x[0].at.size(); ++e) x[0].at[e] += x[1].at[e] * dropout_factor(int64_t(e), drop);
                       return norm_reference(x[0], x[2], x[3]);
                     },
                     [drop](auto& x) { return composed::residual_norm(x[0], x[1], x[2], x[3], drop); }, {{-1, 1}, {-1, 1}, {0.5, 1.5}}});
    }
  }
});

const Cases dropouts([](std::vector<OpCase>& all) {
  for (const Shape& shape : std::vector<Shape>{{1}, {31}, {3, 11}, {257}, {1024, 33}})
    for (const double rate : {0.1, 0.5, 0.99}) {
      const Dropout drop{real(rate), {0xFEDCBA9876543210u, 1000003, 77}};
      all.push_back({"dropout", fmt::format("{} rate {}", to_string(shape), rate), {shape}, [drop](auto& x) { return dropout(x[0], drop); },
                     [drop](Arrays x) {
                       for (size_t e = 0; e < x[0].at.size(); ++e) x[0].at[e] *= dropout_factor(int64_t(e), drop);
                       return x[0];
                     }});
    }
});

const Cases losses([](std::vector<OpCase>& all) {
  for (const Shape& shape : shapes)
    for (const double size : {1., 20.}) {
      const Ids target(without_last(shape), random_ids(size_of(without_last(shape)), shape.back(), 5));
      all.push_back({"cross_entropy", fmt::format("{} up to {}", to_string(shape), size), {shape},
                     [target](auto& x) { return cross_entropy(x[0], target); },
                     [target](Arrays x) {
                       const size_t n = size_t(x[0].shape.back());
                       Array p = for_rows(x[0], Array(x[0].shape), softmax_row), loss({1});
                       for (int64_t i = 0; i < target.size(); ++i)
                         loss.at[0] -= std::log(p.at[size_t(i) * n + size_t(target[i])]) / double(target.size());
                       return loss;
                     },
                     [target](auto& x) { return composed::cross_entropy(x[0], target); }, {{-size, size}}});
      all.back().step = 1e-3;   // each element's share of the mean is small
    }
});

const Cases speed([](std::vector<OpCase>& all) {
  const Shape x = {5120, 64}, logits = {40960, 40};
  const Dropout drop{real(0.1), {1, 2, 3}};
  all.push_back({"max", "of logits", {logits}, [](auto& t) { return max(t[0]); }, {}});
  all.push_back({"softmax", "of logits", {logits}, [](auto& t) { return softmax(t[0]); }, {}});
  all.push_back({"norm", to_string(x), {x, {64}, {64}}, [](auto& t) { return norm(t[0], t[1], t[2]); }, {}});
  all.push_back({"residual_norm", to_string(x), {x, x, {64}, {64}}, [drop](auto& t) { return residual_norm(t[0], t[1], t[2], t[3], drop); }, {}});
  all.push_back({"dropout", to_string(x), {x}, [drop](auto& t) { return dropout(t[0], drop); }, {}});
  const Ids target({2560}, random_ids(2560, 12, 5));
  all.push_back({"cross_entropy", "(2560, 12)", {{2560, 12}}, [target](auto& t) { return cross_entropy(t[0], target); }, {}});
}, For::bench);

}  // namespace

TEST_CASE("dropout: the share that is kept, and the mean, are those of the rate") {
  for (const double rate : {0.1, 0.5, 0.9}) {
    const int n = 1 << 20;
    const Tensor y = dropout(Tensor::full({n}, 1), {real(rate), {1, 2, 3}});
    double kept = 0, sum = 0;
    for (const real v : y.values()) kept += v != 0, sum += double(v);
    const double deviation = std::sqrt(rate * (1 - rate) / n);
    CHECK(std::abs(kept / n - (1 - rate)) < 5 * deviation + 1. / 65536);
    CHECK(std::abs(sum / n - 1) < 5 * deviation / (1 - rate));
  }
}

TEST_CASE("softmax, max and cross_entropy: infinities and NaN") {
  const real inf = INFINITY, nan = NAN;
  const Tensor masked = softmax(Tensor::from<real>({2, 3}, {0, -inf, 0, 500, 500, -inf}));
  CHECK(masked.values() == std::vector<real>{0.5, 0, 0.5, 0.5, 0.5, 0});
  for (int lane = 0; lane < 33; ++lane) {
    Tensor x = Tensor::full({33}, -1);
    x.data()[lane] = nan;
    CHECK(std::isnan(max(x).item()));
    CHECK(std::isnan(softmax(x).data()[0]));
    CHECK(std::isnan(cross_entropy(x.reshape({1, 33}), Ids({1}, {5})).item()));
    x.data()[lane] = inf;
    CHECK(max(x).item() == inf);
    x.data()[lane] = -inf;
    CHECK(max(x).item() == -1);
  }
  CHECK(max(Tensor::full({20}, -inf)).item() == -inf);
  CHECK(cross_entropy(Tensor::from<real>({1, 2}, {0, -inf}), Ids({1}, {1})).item() == inf);
}

}  // namespace poslab::test
