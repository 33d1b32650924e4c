#include "lab/papers/wording.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lab/pages/page/page.h"

namespace poslab::reproduce {

std::string interval_text(const Interval& i, bool sign) {
  if (std::isnan(i.low)) return "";
  const auto text = [&](double x) { return sign ? signed_points(x) : points(x); };
  return fmt::format("[{}, {}]", text(i.low), text(i.high));
}

std::string ahead_text(double x, const Interval& i, const std::string& unit) {
  return fmt::format("{}{}{}{}", signed_points(x), unit, std::isnan(i.low) ? "" : " ", interval_text(i, true));
}

nlohmann::json number(double x) { return std::isnan(x) ? nlohmann::json() : nlohmann::json(x); }

std::string about_intervals(const Outcomes& outcomes) {
  std::set<int64_t> seeds;
  std::set<double> rates;
  for (const Outcome& o : outcomes.done()) {
    const Choices& c = o.trial->config();
    seeds.insert(c.count("seed")), rates.insert(c.number("lr"));
  }
  std::string text = poslab::about_intervals(int(seeds.size()));
  if (rates.size() > 1)
    text +=
        " Of several learning rates, means, differences and tests have the one whose mean is best on these tested "
        "lengths, for each setting by itself, as table 4 of Ruoss et al. (2023) has it. So means are on the high side, "
        "and intervals and p do not know of the choice.";
  return text;
}

std::string how_many(const Outcomes& outcomes) {
  if (outcomes.done().empty()) return "No run is done yet.";
  std::set<int64_t> seeds;
  std::set<double> rates;
  std::set<std::string> tested;
  for (const Outcome& o : outcomes.done()) {
    const Choices& c = o.trial->config();
    seeds.insert(c.count("seed")), rates.insert(c.number("lr"));
    tested.insert(fmt::format(
        "{} steps of {} strings to length {}, tested to length {} with {} strings of each, dropout at test {}",
        c.count("steps"), c.whole("batch"), c.whole("train_length"), c.lengths("eval_lengths").to,
        c.whole("eval_samples"), c.on("test_dropout") ? "on" : "off"));
  }
  return fmt::format("{} seed{}, learning rate{} {}; {}.", seeds.size(), seeds.size() == 1 ? "" : "s",
                     rates.size() == 1 ? "" : "s", fmt::join(rates, ", "), fmt::join(tested, "; "));
}

Picture picture(const page::Chart& chart, const std::string& caption) {
  return {fmt::format("<figure>{}<figcaption>{}</figcaption></figure>\n", page::figure(chart), caption),
          {{"charts", {page::chart_json(chart)}}},
          chart.id,
          {chart}};
}

page::Chart chart_of(const std::string& id, const std::string& title, const std::string& x_label,
                     const std::string& y_label, double x_low, double x_high) {
  return {id, title, "", x_label, y_label, x_low, x_high, 0, 0};
}

std::vector<double> values(const BySeed& all) {
  std::vector<double> some;
  for (const auto& [seed, x] : all) some.push_back(x);
  return some;
}

double mean(const BySeed& all) { return poslab::mean(values(all)); }

BySeed difference(const BySeed& a, const BySeed& b) {
  BySeed both;
  for (const auto& [seed, x] : a)
    if (const auto other = b.find(seed); other != b.end()) both[seed] = x - other->second;
  return both;
}

}  // namespace poslab::reproduce
