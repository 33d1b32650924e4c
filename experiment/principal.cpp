#include "experiment/principal.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <set>

namespace poslab {
namespace {

// Turns A by the angle that makes a_pq zero: A <- J^T A J, V <- J^T V with J = [c s; -s c] in rows and columns p, q.
void rotate(std::vector<double>& A, std::vector<double>& V, size_t C, size_t p, size_t q) {
  const double apq = A[p * C + q];
  if (apq == 0) return;
  const double theta = (A[q * C + q] - A[p * C + p]) / (2 * apq);
  const double t = (theta < 0 ? -1 : 1) / (std::abs(theta) + std::hypot(theta, 1.)), c = 1 / std::hypot(t, 1.);
  const auto turn = [s = t * c, c](double& x, double& y) {
    const double old = x;
    x = c * old - s * y, y = s * old + c * y;
  };
  for (size_t k = 0; k < C; ++k) turn(A[k * C + p], A[k * C + q]);
  for (size_t k = 0; k < C; ++k) turn(A[p * C + k], A[q * C + k]);
  for (size_t k = 0; k < C; ++k) turn(V[p * C + k], V[q * C + k]);
}

}  // namespace

Eigen eigen(std::vector<double> A, int channels) {
  const size_t C = size_t(channels);
  std::vector<double> V(C * C, 0.);
  for (size_t k = 0; k < C; ++k) V[k * C + k] = 1;
  const double all = std::inner_product(A.begin(), A.end(), A.begin(), 0.);
  double off = all;
  // The part off the diagonal shrinks quadratically; some ten sweeps reach the rounding of doubles.
  for (int sweep = 0; sweep < 50 && off > 1e-28 * all; ++sweep) {
    for (size_t p = 0; p + 1 < C; ++p)
      for (size_t q = p + 1; q < C; ++q) rotate(A, V, C, p, q);
    off = 0;
    for (size_t p = 0; p < C; ++p)
      for (size_t q = 0; q < C; ++q) off += p == q ? 0 : A[p * C + q] * A[p * C + q];
  }
  std::vector<size_t> order(C);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return A[a * C + a] > A[b * C + b]; });
  Eigen e;
  for (const size_t c : order) {
    const auto from = V.begin() + std::ptrdiff_t(c * C), to = from + std::ptrdiff_t(C);
    const double largest = *std::max_element(from, to, [](double x, double y) { return std::abs(x) < std::abs(y); });
    e.values.push_back(A[c * C + c]);
    std::transform(from, to, std::back_inserter(e.vectors), [&](double x) { return largest < 0 ? -x : x; });
  }
  return e;
}

Principal principal(const std::vector<double>& points, int channels) {
  const size_t C = size_t(channels), N = points.size() / C;
  Principal p{std::vector<double>(C, 0.), {}, {}};
  for (size_t n = 0; n < points.size(); ++n) p.mean[n % C] += points[n] / double(N);
  std::vector<double> covariance(C * C, 0.), x(C);
  for (size_t n = 0; n < N; ++n) {
    for (size_t c = 0; c < C; ++c) x[c] = points[n * C + c] - p.mean[c];
    for (size_t a = 0; a < C; ++a)
      for (size_t b = 0; b < C; ++b) covariance[a * C + b] += x[a] * x[b] / double(N - 1);
  }
  const Eigen e = eigen(std::move(covariance), channels);
  double all = 0;
  for (const double v : e.values) all += std::max(0., v);
  for (const double v : e.values) p.share.push_back(all > 0 ? std::max(0., v) / all : 0);
  p.axes.assign(e.vectors.begin(), e.vectors.begin() + std::ptrdiff_t(2 * C));
  return p;
}

std::vector<double> project(const Principal& p, const std::vector<double>& points) {
  const size_t C = p.mean.size();
  std::vector<double> at;
  for (size_t n = 0; n < points.size(); n += C)
    for (size_t k = 0; k < 2; ++k) {
      double sum = 0;
      for (size_t c = 0; c < C; ++c) sum += (points[n + c] - p.mean[c]) * p.axes[k * C + c];
      at.push_back(sum);
    }
  return at;
}

double share_outside(const std::vector<double>& points, const std::vector<double>& cloud) {
  double low[2] = {cloud[0], cloud[1]}, high[2] = {cloud[0], cloud[1]};
  for (size_t n = 0; n < cloud.size(); ++n)
    low[n % 2] = std::min(low[n % 2], cloud[n]), high[n % 2] = std::max(high[n % 2], cloud[n]);
  const double side = std::max({high[0] - low[0], high[1] - low[1], 1e-12}) / 20;
  const auto square = [side](double x, double y) { return std::pair(std::floor(x / side), std::floor(y / side)); };
  std::set<std::pair<double, double>> taken;
  for (size_t n = 0; n < cloud.size(); n += 2) taken.insert(square(cloud[n], cloud[n + 1]));
  size_t all = 0, outside = 0;
  for (size_t n = 0; n < points.size(); n += 2, ++all) outside += !taken.count(square(points[n], points[n + 1]));
  return double(outside) / double(all);
}

}  // namespace poslab
