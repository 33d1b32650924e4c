#include "lab/files/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/random.h"

namespace poslab {
namespace {

constexpr size_t draws = 10000, tail = draws / 40;  // 2.5 % on each side

}  // namespace

double mean(const std::vector<double>& x) {
  return x.empty() ? std::nan("") : std::accumulate(x.begin(), x.end(), 0.) / double(x.size());
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

// The interval of 2 or 3 values reaches from the smallest to the largest, so it excludes zero if all have the same
// sign. For more values the percentages were measured; a test measures them again.
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
  std::string all = "Intervals are 95 % bootstrap intervals of the mean over seeds.";
  if (seeds > 20) return all;
  const std::string few =
      seeds <= 3
          ? "hardly exceed the range of seeds: they exclude zero when all seeds agree on the sign, as happens by luck"
          : "are too narrow: they exclude zero by luck";
  return fmt::format("{} With {} seeds they {} in {} % of cells.", all, seeds, few, excluded_by_luck(seeds));
}

Paired paired(const BySeed& first, const BySeed& second) {
  std::vector<double> differences;
  for (const auto& [seed, score] : first)
    if (const auto other = second.find(seed); other != second.end()) differences.push_back(score - other->second);
  return {int(differences.size()), mean(differences), bootstrap(differences)};
}

}  // namespace poslab
