#include "lab/files/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <numbers>
#include <numeric>

#include "core/random.h"

namespace poslab {
namespace {

constexpr size_t draws = 10000, tail = draws / 40;  // 2.5 % on each side

// P(|T| < t) of Student's law, by its finite sums for whole degrees of freedom (Abramowitz & Stegun 26.7.3 and 4).
double within_t(double t, size_t degrees) {
  const double angle = std::atan(t / std::sqrt(double(degrees))), squared = std::cos(angle) * std::cos(angle);
  const bool odd = degrees % 2;
  double term = odd ? std::cos(angle) : 1, sum = 0;
  for (size_t k = odd ? 3 : 2; k <= degrees; k += 2) sum += term, term *= double(k - 1) / double(k) * squared;
  return odd ? (angle + std::sin(angle) * sum) * 2 / std::numbers::pi : std::sin(angle) * sum;
}

// The sums of all subsets, the empty one first; of many values those of some 65,000 random ones.
std::vector<double> subset_sums(const std::vector<double>& x, std::vector<double>* sizes = nullptr) {
  constexpr size_t most = 16;
  Rng rng(Stream{});
  std::vector<double> sums(size_t(1) << std::min(x.size(), most));
  for (size_t set = 0; set < sums.size(); ++set) {
    double size = 0;
    for (size_t i = 0; i < x.size(); ++i)
      if (x.size() <= most ? set >> i & 1 : set && rng.below(2)) sums[set] += x[i], ++size;
    if (sizes) sizes->push_back(size);
  }
  return sums;
}

}  // namespace

double mean(const std::vector<double>& x) {
  return x.empty() ? std::nan("") : std::accumulate(x.begin(), x.end(), 0.) / double(x.size());
}

double deviation(const std::vector<double>& x) {
  if (x.size() < 2) return std::nan("");
  const double m = mean(x);
  double squares = 0;
  for (const double v : x) squares += (v - m) * (v - m);
  return std::sqrt(squares / double(x.size() - 1));
}

Interval bootstrap(const std::vector<double>& x) {
  if (x.size() < 2) return {};
  Rng rng(Stream{});
  std::vector<double> means(draws);
  for (double& m : means) {
    m = 0;
    for (size_t i = 0; i < x.size(); ++i) m += x[rng.below(uint32_t(x.size()))] / double(x.size());
  }
  std::sort(means.begin(), means.end());
  return {means[tail], means[draws - 1 - tail]};
}

double median(std::vector<double> x) {
  if (x.empty()) return std::nan("");
  std::sort(x.begin(), x.end());
  return (x[(x.size() - 1) / 2] + x[x.size() / 2]) / 2;
}

Interval t_interval(const std::vector<double>& x) {
  if (x.size() < 2) return {};
  double low = 0, high = 1e3;  // of one degree of freedom it is 12.7
  for (int i = 0; i < 100; ++i) (within_t((low + high) / 2, x.size() - 1) < 0.95 ? low : high) = (low + high) / 2;
  const double m = mean(x), half = low * deviation(x) / std::sqrt(double(x.size()));
  return {m - half, m + half};
}

Interval permutation_interval(const std::vector<double>& x) {
  std::vector<double> sizes, means = subset_sums(x, &sizes);
  for (size_t set = 0; set < means.size(); ++set) means[set] = sizes[set] ? means[set] / sizes[set] : -INFINITY;
  std::sort(means.begin(), means.end());   // the empty one first, so the n-th least mean is means[n]
  const size_t left_out = means.size() / 40;
  return left_out ? Interval{means[left_out], means[means.size() - left_out]} : Interval{};
}

double permutation_test(const std::vector<double>& x) {
  if (x.empty()) return std::nan("");
  const double all = std::accumulate(x.begin(), x.end(), 0.), nearly = std::abs(all) * (1 - 1e-12);
  const std::vector<double> sums = subset_sums(x);
  return double(std::count_if(sums.begin(), sums.end(), [&](double s) { return std::abs(2 * s - all) >= nearly; })) /
         double(sums.size());
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<size_t> order(p.size());
  std::iota(order.begin(), order.end(), 0);
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return p[a] < p[b]; });
  std::vector<double> adjusted(p.size());
  double highest = 0;
  for (size_t k = 0; k < p.size(); ++k)
    adjusted[order[k]] = highest = std::max(highest, std::min(1., double(p.size() - k) * p[order[k]]));
  return adjusted;
}

// Up to 3 the interval reaches to both ends, so all n have one sign. Beyond, measured: a test draws them again.
int excluded_by_luck(int n) {
  switch (n) {
    case 2:
      return 50;
    case 3:
      return 25;
    case 4:
      return 20;
    case 5:
      return 16;
    case 6:
      return 14;
    default:
      return n <= 10 ? 11 : n <= 20 ? 8 : 5;
  }
}

std::string about_intervals(int seeds) {
  if (seeds < 2) return "With one seed there are no intervals: any difference here may be luck.";
  const std::string all = "Intervals: 95 %, of the mean over seeds, by the bootstrap.";
  if (seeds > 20) return all;
  const std::string few =
      seeds <= 3
          ? "hardly more than their range: it excludes zero when all seeds agree on the sign, which luck alone does"
          : "too narrow: luck alone makes it exclude zero";
  return fmt::format("{} With {} seeds it is {} in {} % of cells.", all, seeds, few, excluded_by_luck(seeds));
}

Paired paired(const BySeed& first, const BySeed& second) {
  std::vector<double> differences;
  for (const auto& [seed, score] : first)
    if (const auto other = second.find(seed); other != second.end()) differences.push_back(score - other->second);
  return {int(differences.size()), mean(differences), bootstrap(differences)};
}

}  // namespace poslab
