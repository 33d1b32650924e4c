#include "lab/report/sections.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "lab/page/page.h"

namespace poslab::report {
namespace {

using namespace page;

using Baseline = double Baselines::*;

// The three baselines as curves; those that agree to half a point at every length share one.
std::vector<Curve> baseline_curves(const Run& run) {
  const std::pair<const char*, Baseline> kinds[] = {
      {"guess", &Baselines::chance}, {"majority", &Baselines::majority}, {"content only", &Baselines::content_only}};
  std::vector<Curve> curves;
  for (const auto& [name, value] : kinds) {
    std::vector<Point> points;
    for (const AtLength& row : run.tested) points.push_back({double(row.length), row.baselines.*value});
    const auto same = std::find_if(curves.begin(), curves.end(), [&](const Curve& c) {
      return std::equal(c.points.begin(), c.points.end(), points.begin(),
                        [](Point a, Point b) { return std::abs(a.y - b.y) < .005; });
    });
    if (same == curves.end())
      curves.push_back({name, Curve::baseline, points, {}});
    else
      same->name += std::string(", ") + name;
  }
  return curves;
}

double mean(const Run& run, Baseline value) {
  double sum = 0;
  int n = 0;
  for (const AtLength& row : run.tested)
    if (row.length > run.train_length || run.longest() <= run.train_length) sum += row.baselines.*value, ++n;
  return sum / n;
}

std::string mark(const Member& m) { return fmt::format("<i class=\"mark c{}\" aria-hidden=\"true\"></i>", m.color); }

std::string score(const std::optional<double>& accuracy) { return accuracy ? percent(*accuracy) : "–"; }
std::string shown(const std::optional<std::string>& word) { return word ? escape(*word) : "–"; }
std::string shown(const std::optional<int64_t>& number) { return number ? fmt::format("{}", *number) : "–"; }
std::string shown(const std::optional<double>& number) { return number ? fmt::format("{:.1f}", *number) : "–"; }

}  // namespace

std::string title(const std::vector<Group>& groups) {
  std::vector<std::string> tasks;
  size_t runs = 0;
  for (const Group& g : groups) tasks.push_back(words(g.task)), runs += g.members.size();
  return fmt::format("Train short, test long: {}", tasks.size() <= 3
                                                       ? fmt::format("{}", fmt::join(tasks, ", "))
                                                       : fmt::format("{} runs of {} tasks", runs, tasks.size()));
}

std::string table(const std::vector<Group>& groups) {
  std::string rows;
  for (const Group& g : groups)
    for (const Member& m : g.members) {
      const Run& run = *m.run;
      // A narrow page shows a row as a list, each value with its name from data-name.
      const auto cell = [](const char* name, const char* kind, const std::string& text) {
        return fmt::format("<td class=\"{}\" data-name=\"{}\">{}</td>", kind, name, text);
      };
      rows += fmt::format("<tr><th scope=\"row\">{}{}</th>", mark(m), escape(run.folder)) +
              cell("task", "text", words(run.task)) + cell("encoding", "text", escape(run.encoding)) +
              cell("positions", "text", escape(run.positions)) + cell("steps", "", shown(run.record.steps)) +
              cell("steps/s", "", shown(run.record.steps_per_second)) +
              cell("trained lengths", "", percent(run.accuracy(1, run.train_length))) +
              cell("paper score", "score", score(run.record.paper_score)) +
              cell("released score", "", score(run.record.released_score)) +
              cell("guess", "quiet", percent(mean(run, &Baselines::chance))) +
              cell("majority", "quiet", percent(mean(run, &Baselines::majority))) +
              cell("content only", "quiet", percent(mean(run, &Baselines::content_only))) + "</tr>\n";
    }
  return rows;
}

Chart accuracy_chart(const Group& g, const std::string& id) {
  Chart c{id, "Accuracy against length, " + g.task, "", "length of the input", "accuracy", 1, 1, 1, 1, true, false, 0,
          {}};
  double lowest = 1, x_low = 1e9;
  std::set<int> trained;
  for (const Member& m : g.members) {
    Curve curve{m.run->name, m.color, {}, {}};
    for (const AtLength& row : m.run->tested) {
      curve.points.push_back({double(row.length), row.accuracy});
      lowest = std::min(lowest, row.accuracy);
    }
    c.x_high = std::max(c.x_high, curve.points.back().x), x_low = std::min(x_low, curve.points.front().x);
    trained.insert(m.run->train_length);
    c.description +=
        fmt::format("{}: {:.1f} % at length {}, {:.1f} % at length {}. ", curve.name, 100 * curve.points.front().y,
                    curve.points.front().x, 100 * curve.points.back().y, curve.points.back().x);
    c.curves.push_back(curve);
  }
  const auto longest = std::max_element(g.members.begin(), g.members.end(),
                                        [](auto& a, auto& b) { return a.run->longest() < b.run->longest(); });
  for (const Curve& base : baseline_curves(*longest->run)) {
    for (const Point p : base.points) lowest = std::min(lowest, p.y);
    c.curves.push_back(base);
  }
  c.x_low = std::min(x_low, c.x_high - 1);
  c.y_low = std::max(0., std::floor(10 * lowest - .5) / 10);
  c.shaded = trained.size() == 1 ? *trained.begin() : 0;  // runs trained on different lengths share no range
  return c;
}

std::string accuracy_caption(const Group& g) {
  int fewest = g.members[0].run->tested[0].samples;
  std::set<int> trained;
  for (const Member& m : g.members) {
    for (const AtLength& row : m.run->tested) fewest = std::min(fewest, row.samples);
    trained.insert(m.run->train_length);
  }
  const std::string range = trained.size() == 1
                                ? fmt::format("The shaded lengths, 1 to {}, were trained on. ", *trained.begin())
                                : "The runs were trained on different ranges of lengths, so none is shaded. ";
  return fmt::format(
      "<b>{}.</b> Share of answer slots that are right, at every tested length. {}Each point is the mean over {}{} "
      "strings, "
      "so its standard error is at most {:.1f} points. Dashed: what uniform guessing, the most frequent symbol of each "
      "slot, and "
      "the best guess from symbol counts alone reach.",
      headed(g.task), range, g.members.size() > 1 ? "at least " : "", fewest, 50 / std::sqrt(fewest));
}

Chart loss_chart(const Group& g, const std::string& id, bool log) {
  Chart c{id,
          fmt::format("Training loss, {}{}", g.task, log ? ", log axis" : ""),
          "",
          "training step",
          "loss (nats)",
          0,
          1,
          0,
          0,
          false,
          log,
          0,
          {},
          "step"};
  double lowest = 1e30;
  for (const Member& m : g.members) {
    std::vector<Point> raw;
    for (const TrainStep& s : m.run->training)
      if (std::isfinite(s.loss)) raw.push_back({s.step, s.loss});
    if (raw.empty()) continue;
    const Curve curve{m.run->name, m.color, smooth(raw, raw.size() / 25, 240), outline(raw, 240)};
    for (const Point p : curve.behind) {
      if (p.y > 0) lowest = std::min(lowest, p.y);
      c.y_high = std::max(c.y_high, p.y);
    }
    c.x_high = std::max(c.x_high, raw.back().x);
    c.description += fmt::format("{}: {:.3g} at the start, {:.3g} at the end. ", curve.name, curve.points.front().y,
                                 curve.points.back().y);
    c.curves.push_back(curve);
  }
  if (c.y_high == 0) c.y_high = 1;
  // Five decades at most: a single lucky batch must not flatten the rest.
  if (log) c.y_low = std::clamp(lowest, c.y_high * 1e-5, c.y_high / 2);
  return c;
}

std::string configuration(const std::vector<Group>& groups, const std::string& out) {
  std::vector<Member> all;
  std::set<std::string> keys;
  for (const Group& g : groups) all.insert(all.end(), g.members.begin(), g.members.end());
  for (const Member& m : all)
    for (const auto& [key, value] : m.run->config) keys.insert(key);
  std::string head, rows, made, folders, commands;
  const auto row = [&](const std::string& key, auto&& value) {
    std::set<std::string> kinds;
    std::string cells;
    for (const Member& m : all)
      kinds.insert(value(*m.run)), cells += fmt::format("<td class=\"text\">{}</td>", value(*m.run));
    return fmt::format("<tr{}><th scope=\"row\">{}</th>{}</tr>\n", kinds.size() > 1 ? " class=\"differs\"" : "", key,
                       cells);
  };
  for (const Member& m : all) {
    const std::string folder = escape(m.run->folder);
    head += fmt::format("<th scope=\"col\" class=\"text\">{}{}</th>", mark(m), folder);
    commands += fmt::format(
        "poslab train --config {0}/config.toml --out {0}-again\nposlab eval {0}-again --lengths {1}:{2} --samples "
        "{3}\n",
        folder, m.run->tested.front().length, m.run->longest(), m.run->tested.front().samples);
    folders += " " + folder + "-again";
  }
  for (const std::string& key : keys)
    rows += row(escape(key), [&](const Run& run) {
      const auto it = run.config.find(key);
      return it == run.config.end() ? std::string("–") : escape(it->second);
    });
  made = row("version of poslab", [](const Run& run) { return shown(run.record.version); }) +
         row("commit", [](const Run& run) { return shown(run.record.commit); }) +
         row("threads used", [](const Run& run) { return shown(run.record.threads); }) +
         row("instruction set", [](const Run& run) { return shown(run.record.isa); }) +
         row("seconds of training", [](const Run& run) { return shown(run.record.seconds); });
  return fmt::format(
      "<div class=\"scroll\"><table class=\"settings\"><thead><tr><th scope=\"col\">made "
      "by</th>{0}</tr></thead><tbody>{1}</tbody>"
      "<thead><tr><th scope=\"col\">configuration</th>{0}</tr></thead><tbody>{2}</tbody></table></div>\n"
      "<p>To make the runs and this page again:</p><pre>{3}poslab report{4} -o {5}</pre>",
      head, made, rows, commands, folders, escape(out));
}

}  // namespace poslab::report
