#include "lab/papers/telling.h"

#include <fmt/ranges.h>

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

std::string partly(const Summary& s) {
  return s.whole() || !s.runs ? "" : fmt::format("{} of {} runs\n", s.runs, s.planned);
}

std::vector<nlohmann::json> baseline_cells(const Summary& s) {
  const std::optional<Baselines> b = s.at_lr.empty() ? std::nullopt : s.at_lr[0]->record.baselines;
  if (!b) return {nullptr, nullptr, nullptr};
  return {b->chance, b->majority, b->content_only};
}

nlohmann::json number(double x) { return std::isnan(x) ? nlohmann::json() : nlohmann::json(x); }

Cell task_cell(const Outcomes& outcomes, const std::string& task) {
  for (const Outcome& o : outcomes.done())
    if (o.trial->config()["task"] == task && o.record.baselines) {
      const Baselines& b = *o.record.baselines;
      return {task, fmt::format("guess {}\nmajority {}\ncontent only {}", points(b.chance), points(b.majority),
                                points(b.content_only))};
    }
  return {task};
}

std::string about_intervals(const Outcomes& outcomes) {
  std::set<int64_t> seeds;
  for (const Outcome& o : outcomes.done()) seeds.insert(o.trial->config().count("seed"));
  return poslab::about_intervals(int(seeds.size()));
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
          {{"charts", {page::chart_json(chart)}}}};
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
