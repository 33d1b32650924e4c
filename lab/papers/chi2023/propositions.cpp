// Tests propositions 1 and 2 on rows of logits from N(0, variance) and one largest logit. Nothing is trained.
#include <algorithm>
#include <cmath>
#include <optional>

#include "core/random.h"
#include "core/stop.h"
#include "experiment/align.h"
#include "lab/papers/chi2023/chi2023.h"

namespace poslab::reproduce::chi2023 {
namespace {

constexpr int keys_short = 512, rows = 100;
constexpr double within = 0.5;

struct LogitRow {
  std::vector<double> logits;
  double top;  // the largest of them
};

// `keys` logits of a row; the first is drawn as the largest.
LogitRow row_of(int keys, double variance, double largest, uint64_t number) {
  Rng rng(stream(2023, Purpose::test_tokens, number, uint32_t(keys)));
  std::vector<double> s(1, largest);
  while (int(s.size()) < keys) {
    const double u = 1 - rng.uniform(), angle = 2 * std::acos(-1.) * rng.uniform();
    s.push_back(std::sqrt(-2 * variance * std::log(u)) * std::cos(angle));  // Box and Muller 1958
  }
  const double top = *std::max_element(s.begin(), s.end());
  return {std::move(s), top};
}

struct Means {
  double weight = 0, entropy = 0;
};
Means at(const std::vector<LogitRow>& all, double tau) {
  Means sum;
  for (const auto& [logits, top] : all) {
    double z = 0, mean = 0;
    for (const double x : logits) {
      const double e = std::exp((x - top) / tau);
      z += e, mean += e * x;
    }
    sum.weight += 1 / z / double(all.size());
    sum.entropy += (std::log(z) + (top - mean / z) / tau) / double(all.size());
  }
  return sum;
}

// The temperature between 0.02 and 1 at which the rows have this weight or entropy, which are monotonic in it.
template <class Of>
std::optional<double> temperature(const std::vector<LogitRow>& all, double target, bool rises, const Of& of) {
  double low = 0.02, high = 1;
  const auto above = [&](double tau) { return (of(at(all, tau)) > target) == rises; };
  if (above(low) || !above(high)) return {};
  for (int n = 0; n < 16; ++n) {
    const double middle = (low + high) / 2;
    (above(middle) ? high : low) = middle;
  }
  return (low + high) / 2;
}

// The propositions from keys_short to this many keys.
Json row(int keys_long, double variance, double largest) {
  std::vector<LogitRow> few, many;
  for (uint64_t n = 0; n < rows; ++n)
    few.push_back(row_of(keys_short, variance, largest, n)), many.push_back(row_of(keys_long, variance, largest, n));
  const Means m = at(few, 1);
  const double weight = std::exp(largest - variance / 2) / keys_short, entropy = std::log(keys_short) - variance / 2;
  const Proposition1 one = proposition1(weight, keys_short, variance, keys_long, variance);
  const double two = proposition2(keys_short, variance, keys_long, variance);
  const auto tau1 = temperature(many, m.weight, false, [](const Means& x) { return x.weight; });
  const auto tau2 = temperature(many, m.entropy, true, [](const Means& x) { return x.entropy; });
  // Whether the propositions' assumption holds. The sum of L normal logits' exp(s / tau) is L exp(v / 2) on average,
  // v = variance / tau^2, with a relative standard deviation of sqrt((exp(v) - 1) / L): it is below L^-1/4 if
  // sigma / tau is below half of sqrt(2 ln L), where the largest of the logits is.
  const double deviation = std::sqrt(variance), tail = std::sqrt(2 * std::log(keys_long));
  const double weight_at_two =
      std::exp(largest / two - variance / (2 * two * two)) / keys_long;  // weight of the largest logit
  const bool one_holds = one.reachable && largest > deviation * tail && deviation / one.tau < within * tail,
             two_holds = weight_at_two < 0.1 && deviation / two < within * tail;
  const auto known = [](const std::optional<double>& x) { return x ? Json(*x) : Json(); };
  return {{"keys", keys_long},          {"variance", variance},      {"largest_logit", largest},
          {"weight_predicted", weight}, {"weight", m.weight},        {"entropy_predicted", entropy},
          {"entropy", m.entropy},       {"tau1_predicted", one.tau}, {"reachable", one.reachable},
          {"assumed1", one_holds},      {"tau1", known(tau1)},       {"tau2_predicted", two},
          {"assumed2", two_holds},      {"tau2", known(tau2)},       {"log_rule", log_rule(keys_short, keys_long)}};
}

}  // namespace

Json propositions() {
  Json all = {{"keys_short", keys_short}, {"samples", rows}, {"within", within}, {"rows", Json::array()}};
  for (const int keys : {2048, 15000})  // the source's long contexts are the second
    for (const double variance : {0.25, 0.5, 1., 2., 4.})
      for (const double largest : {2., 4., 6., 8.}) {
        stop_if_requested();
        all["rows"].push_back(row(keys, variance, largest));
      }
  return all;
}

}  // namespace poslab::reproduce::chi2023
