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

std::string partly(const Summary& s) {
  return s.whole() || !s.runs ? "" : fmt::format("{} of {} runs\n", s.runs, s.planned);
}

std::vector<nlohmann::json> baseline_cells(const Summary& s, const At& at) {
  const std::optional<Baselines> b = baselines_of(s.at_lr, at);
  if (!b) return {nullptr, nullptr, nullptr};
  return {b->chance, b->majority, b->content_only};
}

nlohmann::json number(double x) { return std::isnan(x) ? nlohmann::json() : nlohmann::json(x); }

At within(Lengths range) {
  return [=](int length) { return length >= range.from && length <= range.to; };
}

Cell task_cell(const Outcomes& outcomes, const std::string& task, const std::vector<At>& at,
               const std::vector<int64_t>& seeds) {
  std::vector<const Outcome*> runs;
  for (const Outcome& o : outcomes.done())
    if (const Choices& c = o.trial->config();
        c["task"] == task && (seeds.empty() || std::count(seeds.begin(), seeds.end(), c.count("seed"))))
      runs.push_back(&o);
  std::vector<std::string> chance, majority, content_only;
  for (const At& some : at)
    if (const auto b = baselines_of(runs, some)) {
      chance.push_back(points(b->chance)), majority.push_back(points(b->majority));
      content_only.push_back(points(b->content_only));
    }
  if (chance.empty()) return {task};
  return {task, fmt::format("chance {}\nmajority {}\ncontent only {}", fmt::join(chance, " / "),
                            fmt::join(majority, " / "), fmt::join(content_only, " / "))};
}

std::vector<Line> of_tasks(const Outcomes& outcomes, const std::vector<At>& at) {
  return lines(outcomes.tasks(), [&](const std::string& task) { return Line{task_cell(outcomes, task, at), {task}}; });
}

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

page::Chart accuracy_chart(const std::string& id, const std::string& title, const std::string& x_label, double x_low,
                           double x_high, double shaded) {
  page::Chart chart = chart_of(id, title, x_label, "accuracy", x_low, x_high);
  chart.y_high = 1, chart.percent = true, chart.shaded = shaded;
  return chart;
}

void add_point(page::Curve& curve, double x, const BySeed& ours) {
  if (ours.empty()) return;
  const Interval i = bootstrap(values(ours));
  curve.points.push_back({x, mean(ours)});
  if (!std::isnan(i.low)) curve.band.push_back({x, i.low, i.high});
}

page::Curve by_length(const std::string& name, int color, const std::vector<AtLength>& all) {
  page::Curve curve{name, color, {}, {}};
  for (const AtLength& at : all) curve.points.push_back({double(at.length), at.accuracy});
  return curve;
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
