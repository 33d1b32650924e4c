// Propositions 1 and 2 against what they are about: rows of logits from N(0, variance) and one largest logit. Nothing
// is trained.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/random.h"
#include "experiment/align.h"
#include "lab/files/shell.h"
#include "lab/papers/chi2023/chi2023.h"

namespace poslab::reproduce::chi2023 {
namespace {

constexpr int keys_short = 512, rows = 100;
constexpr int all_long[] = {2048, 15000};  // the source's long contexts are the second

struct LogitRow {
  std::vector<double> logits;
  double top;  // the largest of them
};

// `keys` logits of a row, of which the first is drawn to be the largest.
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

struct Measured {
  double weight = 0, entropy = 0;
};
Measured at(const std::vector<LogitRow>& all, double tau) {
  Measured sum;
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

// The temperature at which the rows have this weight or entropy, between 0.02 and 1: both change one way with it.
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

std::string off_by(double predicted, double measured) {
  return fmt::format("{:+.1f} %", 100 * (predicted / measured - 1));
}

// Of the rows in which what a proposition assumes holds. The sum of L normal logits' exp(s / tau) is
// L exp(v / 2) on average, v = variance / tau^2, with a relative standard deviation of sqrt((exp(v) - 1) / L): it is
// below L^-1/4 if sigma / tau is below half of sqrt(2 ln L), where the largest of the logits is.
constexpr double within = 0.5;
struct Worst {
  double error = 0;
  int rows = 0;
  void add(double predicted, const std::optional<double>& measured) {
    if (measured) error = std::max(error, std::abs(predicted / *measured - 1)), ++rows;
  }
};
Cell beside(double predicted, double measured, const char* form = "{:.3f}") {
  return {fmt::format(fmt::runtime(form), predicted),
          fmt::format("{}, {}", fmt::format(fmt::runtime(form), measured), off_by(predicted, measured))};
}

// The propositions beside the rows, from keys_short to so many keys.
struct Rows {
  Grid grid;
  std::vector<std::vector<nlohmann::json>> data;
};
Rows beside_rows(int keys_long, Worst (&first)[2], Worst (&second)[2]) {
  Rows all{{fmt::format("Predicted, and below it measured on {} rows; {} and {} keys", rows, keys_short, keys_long),
            {"variance, largest logit", "weight, short", "entropy, short", "tau by proposition 1",
             "tau by proposition 2", "log rule"},
            {}},
           {}};
  const double tail = std::sqrt(2 * std::log(keys_long));
  for (const double variance : {0.25, 0.5, 1., 2., 4.})
    for (const double largest : {2., 4., 6., 8.}) {
      std::vector<LogitRow> few, many;
      for (uint64_t n = 0; n < rows; ++n)
        few.push_back(row_of(keys_short, variance, largest, n)),
            many.push_back(row_of(keys_long, variance, largest, n));
      const Measured m = at(few, 1);
      const double weight = std::exp(largest - variance / 2) / keys_short,
                   entropy = std::log(keys_short) - variance / 2;
      const Proposition1 one = proposition1(weight, keys_short, variance, keys_long, variance);
      const double two = proposition2(keys_short, variance, keys_long, variance);
      const auto tau1 = temperature(many, m.weight, false, [](const Measured& x) { return x.weight; });
      const auto tau2 = temperature(many, m.entropy, true, [](const Measured& x) { return x.entropy; });
      const double deviation = std::sqrt(variance);
      const double weight_at_two =
          std::exp(largest / two - variance / (2 * two * two)) / keys_long;  // of the largest logit
      const bool one_holds = one.reachable && largest > deviation * tail && deviation / one.tau < within * tail,
                 two_holds = weight_at_two < 0.1 && deviation / two < within * tail;
      first[one_holds].add(one.tau, tau1), second[two_holds].add(two, tau2);
      const auto cell = [](double predicted, const std::optional<double>& measured, bool holds) {
        Cell c = measured ? beside(predicted, *measured) : Cell{fmt::format("{:.3f}", predicted), "none reaches it"};
        if (holds) c.text += " *";
        return c;
      };
      Cell by_one = cell(one.tau, tau1, one_holds);
      if (!one.reachable) by_one.text += ", not reachable";
      all.grid.rows.push_back({{fmt::format("{:.3g}, {:.3g}", variance, largest)},
                               beside(weight, m.weight, "{:.4f}"),
                               beside(entropy, m.entropy),
                               by_one,
                               cell(two, tau2, two_holds),
                               {fmt::format("{:.3f}", log_rule(keys_short, keys_long))}});
      const auto known = [](const std::optional<double>& x) { return x ? nlohmann::json(*x) : nlohmann::json(); };
      all.data.push_back({keys_long, variance, largest, weight, m.weight, entropy, m.entropy, one.tau, one.reachable,
                          one_holds, known(tau1), two, two_holds, known(tau2), log_rule(keys_short, keys_long)});
    }
  return all;
}

}  // namespace

Section propositions() {
  Section s;
  s.data = {{"keys", "variance", "largest_logit", "weight_predicted", "weight", "entropy_predicted", "entropy",
             "tau1_predicted", "reachable", "assumed1", "tau1", "tau2_predicted", "assumed2", "tau2", "log_rule"},
            {}};
  Worst first[2], second[2];  // where what is assumed does not hold, and where it does
  for (const int keys : all_long) {
    Rows of = beside_rows(keys, first, second);
    s.grids.push_back(std::move(of.grid));
    for (auto& row : of.data) s.data.rows.push_back(std::move(row));
  }
  s.readings = {
      fmt::format("Proposition 1 is within {:.1f} % of the temperature that keeps the weight, in the {} in which the "
                  "largest logit is larger than all others will be and sigma / tau is below {} sqrt(2 ln L).",
                  100 * first[true].error, counted(size_t(first[true].rows), "row"), within),
      fmt::format("Proposition 2 is within {:.1f} % of the temperature that keeps the entropy, in the {} in which the "
                  "largest logit has less than a tenth of the weight at that temperature, and sigma / tau is so small "
                  "too.",
                  100 * second[true].error, counted(size_t(second[true].rows), "row")),
      fmt::format(
          "In the other rows they are up to {:.0f} and {:.0f} % off: where the largest logit has much of the weight, "
          "the source's sum leaves it out.",
          100 * first[false].error, 100 * second[false].error)};
  s.notes = {
      "Both propositions assume logits from N(0, variance), a largest one that is the same at both lengths, and a "
      "denominator that is L exp(variance / (2 tau^2)), the mean over the normal distribution. At a low tau the "
      "mean of exp(s / tau) lives in the tail, where a finite row has no logits: with a large variance the "
      "measured temperatures part from the predicted ones.",
      fmt::format("*: what the proposition assumes holds, as above. Below {} sqrt(2 ln L) the denominator of a row "
                  "differs from its mean by less than a part in the fourth root of L (its standard deviation).",
                  within),
      "Not reachable: no temperature gives the weight of the short rows; then the one that comes nearest."};
  return s;
}

}  // namespace poslab::reproduce::chi2023
