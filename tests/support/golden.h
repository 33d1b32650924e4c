// Reads the golden files of tests/reference/: tokens in rows, and digests of gradients.
#pragma once
#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "core/tensor.h"
#include "tests/support/formula.h"

namespace poslab::golden {

// On these cases PyTorch's own float32 is within 3e-6 of its float64.
inline const double tolerance = sizeof(real) == 8 ? 1e-9 : 1e-4;

inline Ids ids(const nlohmann::json& rows) {
  std::vector<int> at;
  for (const auto& row : rows)
    for (const auto& id : row) at.push_back(id);
  return Ids({int(rows.size()), int(rows[0].size())}, at);
}

// The largest error of a logit, relative to the largest logit; infinity if their number is not the expected one.
inline double logit_error(const Tensor& logits, const nlohmann::json& expected) {
  if (logits.size() != int64_t(expected.size())) return INFINITY;
  double worst = 0, size = 0;
  for (int64_t i = 0; i < logits.size(); ++i) {
    const double x = expected[size_t(i)];
    worst = std::max(worst, std::abs(logits.data()[i] - x)), size = std::max(size, std::abs(x));
  }
  return worst / size;
}

// The largest error of a number in the digest, relative to the gradient's norm.
inline double gradient_error(const std::string& name, const std::vector<real>& g, const nlohmann::json& digest) {
  const double n = double(g.size());
  double squares = 0, sum = 0, largest = 0, worst = 0;
  for (const real x : g) squares += double(x) * x, sum += x, largest = std::max(largest, std::abs(double(x)));
  const bool whole = digest.contains("norm");  // own.py omits numbers that need the whole gradient
  const double norm = whole ? double(digest["norm"]) : std::sqrt(squares);
  const auto compare = [&](double got, double expected, double scale) {
    worst = std::max(worst, std::abs(got - expected) / scale);
  };
  compare(std::sqrt(squares), norm, norm);
  compare(sum, digest["sum"], norm);
  if (whole) compare(largest, digest["largest"], norm);
  const auto at = formula::integers(name + "#samples", int64_t(digest["samples"].size()), int(n));
  for (size_t i = 0; i < at.size(); ++i) compare(g[size_t(at[i])], digest["samples"][i], norm);
  for (size_t i = 0; i < digest["projections"].size(); ++i) {
    const formula::Mix mix(fmt::format("{}#signs{}", name, i));
    double projection = 0;
    for (size_t e = 0; e < g.size(); ++e) projection += formula::sign(mix, int64_t(e)) * g[e];
    compare(projection, digest["projections"][i], norm);
  }
  return worst;
}

}  // namespace poslab::golden
