// Table 2 and figure 2: what training costs.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <sstream>

#include "core/error.h"
#include "lab/files.h"
#include "lab/report/chart.h"
#include "lab/report/html.h"
#include "lab/reproduce/seed1.h"

namespace poslab::reproduce::seed1 {
namespace {

using namespace report;
using nlohmann::json;

double median(std::vector<double> x) {
  if (x.empty()) return std::nan("");
  std::nth_element(x.begin(), x.begin() + std::ptrdiff_t(x.size() / 2), x.end());
  return x[x.size() / 2];
}

// What the runs were made on: "cpu/avx512, 1 thread".
std::string machines(const Outcomes& outcomes) {
  std::set<std::string> all;
  for (const Outcome& o : outcomes.done())
    all.insert(fmt::format("{}, {} thread{}", o.result.value("isa", "?"), o.result.value("threads", 0), o.result.value("threads", 0) == 1 ? "" : "s"));
  std::string text;
  for (const std::string& one : all) text += (text.empty() ? "" : "; ") + one;
  return text;
}

struct Test {
  double step, seconds, accuracy;
};

// tests.jsonl of a run (lab/curve.h): means over the tested lengths beyond `trained`.
std::vector<Test> tests(const Outcome& o, int trained) {
  std::vector<Test> all;
  std::istringstream lines(read_file(o.folder + "/tests.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const json entry = json::parse(line, nullptr, false);
    if (!entry.is_object()) failure("{}/tests.jsonl is damaged; remove the folder and run this again", o.folder);
    if (entry.at("seconds").is_null()) continue;  // the run was moved and its clock lost
    std::vector<double> beyond;
    for (size_t i = 0; i < entry.at("lengths").size(); ++i)
      if (entry["lengths"][i] > trained) beyond.push_back(entry.at("accuracies").at(i));
    all.push_back({entry.at("step"), entry.at("seconds"), mean(beyond)});
  }
  return all;
}

}  // namespace

Section table2(const Outcomes& outcomes, const Size&) {
  Section s;
  s.data = {{"task", "encoding", "positions", "runs", "steps_per_second", "seconds"}, {}};
  Grid grid{"Training steps a second, median over the runs", {"task"}, {}};
  for (const Column& c : columns_of(outcomes)) grid.head.push_back(c.name);
  for (const std::string& task : outcomes.tasks()) {
    std::vector<Cell> row = {{task}};
    for (const Column& c : columns_of(outcomes)) {
      std::vector<double> rate, seconds;
      for (const Outcome& o : outcomes.done())
        if (is(task, c)(o.trial->config) && o.result.contains("seconds") && o.result["seconds"].is_number()) {
          seconds.push_back(o.result["seconds"]);
          rate.push_back(double(o.trial->config.steps) / seconds.back());
        }
      row.push_back({rate.empty() ? "–" : fmt::format("{:.1f}", median(rate)), rate.empty() ? "" : fmt::format("{:.0f} s", median(seconds))});
      s.data.rows.push_back({task, c.encoding, c.positions, rate.size(), rate.empty() ? json() : json(median(rate)), rate.empty() ? json() : json(median(seconds))});
    }
    grid.rows.push_back(std::move(row));
  }
  s.grids = {grid};
  s.notes = {how_many(outcomes), fmt::format("Made on {}. Runs that share a machine with others slow each other down: for a fair table use --jobs 1.", machines(outcomes)),
             "The numbers of the paper's table 2 are not in our source of it."};
  return s;
}

Section fig2(const Outcomes& outcomes, const Size&) {
  Section s;
  s.data = {{"task", "positions", "train_length", "seed", "step", "seconds", "accuracy"}, {}};
  constexpr double good = 0.9;
  constexpr int in_a_row = 3;  // tests above it: a small test is now and then above by luck
  int trained = std::numeric_limits<int>::max();  // what both have in common: the naive run has no unseen lengths
  for (const Outcome& o : outcomes.done()) trained = std::min(trained, o.trial->config.train_length);
  for (const std::string& task : outcomes.tasks()) {
    Chart chart{"time-" + task, "Accuracy on unseen lengths against seconds of training, " + task, "", "seconds of training", "accuracy", 0, 1, 0, 1, true, false, 0, {}, "second"};
    double reached[2] = {std::nan(""), std::nan("")}, rate[2] = {std::nan(""), std::nan("")};
    int most = 0;
    for (const bool naive : {false, true}) {
      std::vector<double> when;
      for (const Outcome& o : outcomes.done()) {
        const Config& c = o.trial->config;
        if (c.task != task || (c.positions == "sequential") != naive) continue;
        Curve curve{fmt::format("{} to length {}{}", naive ? "Relative" : "R-Relative", c.train_length, c.seed ? fmt::format(", seed {}", c.seed) : ""), naive ? 0 : 1, {}, {}};
        double first = std::nan("");
        int row = 0;
        for (const Test& t : tests(o, trained)) {
          curve.points.push_back({t.seconds, t.accuracy});
          row = t.accuracy > good ? row + 1 : 0;
          if (std::isnan(first) && row == in_a_row) first = (curve.points.end() - in_a_row)->x;
          s.data.rows.push_back({task, c.positions, c.train_length, c.seed, t.step, t.seconds, t.accuracy});
        }
        if (curve.points.empty()) continue;
        if (!std::isnan(first)) when.push_back(first);
        chart.x_high = std::max(chart.x_high, curve.points.back().x);
        rate[naive] = double(c.steps) / curve.points.back().x;
        if (naive) most = c.train_length;
        chart.curves.push_back(curve);
      }
      if (!when.empty()) reached[naive] = median(when);
    }
    if (chart.curves.empty()) continue;
    s.readings.push_back(fmt::format("{}: {:.3g} steps a second on short strings with randomized positions, {:.3g} on strings to length {}: {:.1f} times "
                                     "as many (paper: 168.4 and 22.1 on a V100, 7.6 times).", task, rate[0], rate[1], most, rate[0] / rate[1]));
    const auto seconds = [](double x) { return std::isnan(x) ? std::string("not in these runs") : fmt::format("after {:.3g} s", x); };
    s.readings.push_back(fmt::format("More than 90 % right in three tests in a row: randomized {}, naive {}{} (paper: 35.4 times sooner).", seconds(reached[0]), seconds(reached[1]),
                                     std::isnan(reached[0] + reached[1]) ? "" : fmt::format(", {:.1f} times later", reached[1] / reached[0])));
    s.pictures.push_back({fmt::format("<figure>{}<figcaption><b>{}.</b> Tests while training, on a few of the lengths beyond {} each; their own time is not counted."
                                      "</figcaption></figure>\n", figure(chart), headed(task), trained), {{"charts", {chart_json(chart)}}}});
  }
  s.notes = {how_many(outcomes), fmt::format("Made on {}.", machines(outcomes)),
             "The paper does not say for which task its figure 2 is drawn."};
  return s;
}

}  // namespace poslab::reproduce::seed1
