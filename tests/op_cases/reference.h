// Shared by the references of several ops, in double: rows, matrix products, and dropout.
#pragma once
#include <algorithm>
#include <cmath>

#include "core/random.h"
#include "tests/op_cases/op_case.h"

namespace poslab::test {

// Shapes for ops on rows: one number, less than a vector, slightly more than a vector, several panels of a GPU's block.
inline const std::vector<Shape>& row_shapes() {
  static const std::vector<Shape> shapes = {{1, 1},     {1, 7},   {31, 2},   {3, 31},  {5, 33},
                                            {2, 3, 16}, {2, 257}, {700, 64}, {3, 9000}};
  return shapes;
}

inline const std::vector<Shape>& norm_shapes() {
  static const std::vector<Shape> shapes = {{1, 2},     {31, 3},  {3, 31},   {5, 33},
                                            {2, 3, 16}, {2, 257}, {700, 64}, {3, 5000}};
  return shapes;
}

// y = f(row) for every row of x, f: (double* y, const double* x, int n)
template <class F>
Array for_rows(const Array& x, Array y, F f) {
  const size_t n = size_t(x.shape.back()), rows = x.at.size() / n, width = y.at.size() / rows;
  for (size_t i = 0; i < rows; ++i) f(&y.at[i * width], &x.at[i * n], int(n));
  return y;
}

// exp(x_j - m) / sum_k exp(x_k - m), the same for any m. With the largest number as m, no exponential overflows.
inline void softmax_row(double* y, const double* x, int n) {
  const double most = *std::max_element(x, x + n);
  double z = 0;
  for (int j = 0; j < n; ++j) z += std::exp(x[j] - most);
  for (int j = 0; j < n; ++j) y[j] = std::exp(x[j] - most) / z;
}

// gain (x - mean) / sqrt(variance + 1e-5) + bias
inline Array norm_reference(const Array& x, const Array& gain, const Array& bias) {
  return for_rows(x, Array(x.shape), [&](double* y, const double* row, int n) {
    double mean = 0, variance = 0;
    for (int j = 0; j < n; ++j) mean += row[j] / n;
    for (int j = 0; j < n; ++j) variance += (row[j] - mean) * (row[j] - mean) / n;
    const double deviation = std::sqrt(variance + 1e-5);
    for (int j = 0; j < n; ++j) y[j] = gain.at[size_t(j)] * (row[j] - mean) / deviation + bias.at[size_t(j)];
  });
}

// gain x / sqrt(mean(x^2) + epsilon)
inline Array rms_norm_reference(const Array& x, const Array& gain, double epsilon) {
  return for_rows(x, Array(x.shape), [&](double* y, const double* row, int n) {
    double squares = epsilon;
    for (int j = 0; j < n; ++j) squares += row[j] * row[j] / n;
    for (int j = 0; j < n; ++j) y[j] = gain.at[size_t(j)] * row[j] / std::sqrt(squares);
  });
}

// word e % 8 of philox(e / 8) decides about element e (core/kernels.h)
inline double dropout_factor(int64_t e, const Dropout& d) {
  const uint32_t threshold = uint32_t(std::lround(65536 * double(d.rate)));
  const uint32_t word = philox(uint64_t(e / 8), d.stream).at[e % 8 / 2] >> (e % 2 * 16) & 0xFFFF;
  return word < threshold ? 0 : 65536. / (65536 - threshold);
}

// y (m, n) += a (m, k) b (k, n)
inline void multiply(double* y, const double* a, const double* b, int m, int k, int n) {
  for (int i = 0; i < m; ++i)
    for (int p = 0; p < k; ++p)
      for (int j = 0; j < n; ++j) y[i * n + j] += a[i * k + p] * b[p * n + j];
}

}  // namespace poslab::test
