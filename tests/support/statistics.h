// Chi-square: do draws follow a distribution? Seeds are fixed, so a test that passes once always passes. The threshold
// is one in a million, so the test also passes for almost every other seed.
#pragma once
#include <algorithm>
#include <cmath>
#include <map>

namespace poslab::testing {

// How many standard deviations chi-square is above its mean, by Wilson and Hilferty's cube root (1931). Cells that are
// expected fewer than 8 times are merged into one.
template <class Key>
double surprise(const std::map<Key, double>& law, const std::map<Key, int>& seen, int draws) {
  double sum = 0, rare_expected = 0, rare_seen = 0;
  int cells = 0;
  const auto cell = [&](double expected, double found) {
    sum += (found - expected) * (found - expected) / expected, ++cells;
  };
  for (const auto& [key, probability] : law) {
    const auto at = seen.find(key);
    const double expected = probability * draws, found = at == seen.end() ? 0 : at->second;
    if (expected < 8) rare_expected += expected, rare_seen += found;
    else cell(expected, found);
  }
  if (rare_expected > 0) cell(std::max(rare_expected, 1e-9), rare_seen);
  for (const auto& [key, count] : seen)
    if (!law.count(key)) return INFINITY;  // an impossible key was drawn
  if (cells < 2) return 0;                 // with a single cell there is nothing to compare
  const double k = cells - 1;
  return (std::cbrt(sum / k) - (1 - 2 / (9 * k))) / std::sqrt(2 / (9 * k));
}
inline constexpr double one_in_a_million = 4.753;

}  // namespace poslab::testing
