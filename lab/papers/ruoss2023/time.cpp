// Table 2 and figure 2: what training costs.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/pages/page/page.h"
#include "lab/papers/ruoss2023/ruoss2023.h"
#include "lab/runs/run_folder.h"

namespace poslab::reproduce::ruoss2023 {
namespace {

using namespace page;
using nlohmann::json;

double median(std::vector<double> x) {
  if (x.empty()) return std::nan("");
  std::nth_element(x.begin(), x.begin() + std::ptrdiff_t(x.size() / 2), x.end());
  return x[x.size() / 2];
}

std::string machines(const Outcomes& outcomes) {
  std::set<std::string> all;
  for (const Outcome& o : outcomes.done())
    all.insert(fmt::format("{}, {} thread{}", o.record.isa.value_or("?"), o.record.threads.value_or(0),
                           o.record.threads == 1 ? "" : "s"));
  if (all.empty()) return "";
  return fmt::format(
      "Made on {}. Runs that share a machine with others slow each other down: for fair times use --jobs 1.",
      fmt::join(all, "; "));
}

struct Test {
  int64_t step;
  double seconds, accuracy;
};

// tests.jsonl of a run (lab/runs/curve.h): means over the tested lengths beyond `trained`.
std::vector<Test> tests(const Outcome& o, int trained) {
  std::vector<Test> all;
  for (const Json& entry : read_steps(o.folder + "/tests.jsonl", {"seconds"})) {
    if (entry.at("seconds").is_null()) continue;  // the run was moved and its clock lost
    std::vector<double> beyond;
    for (size_t i = 0; i < entry.at("lengths").size(); ++i)
      if (entry.at("lengths")[i] > trained) beyond.push_back(entry.at("accuracies").at(i));
    all.push_back({entry.at("step"), entry.at("seconds"), poslab::mean(beyond)});
  }
  if (o.record.steps && !all.empty()) must_reach(all.back().step, *o.record.steps, o.folder + "/tests.jsonl");
  return all;
}

}  // namespace

Section table2(const Outcomes& outcomes, const Choices&) {
  Section s;
  s.data = {{"task", "encoding", "positions", "runs", "steps_per_second", "seconds"}, {}};
  const std::vector<std::string> tasks = outcomes.tasks();
  const std::vector<Column> across = columns_of(outcomes);
  add(s, {"Training steps a second, median over the runs", "task", lines(tasks), of_columns(across),
          [&](size_t t, size_t c) -> Value {
            std::vector<double> rate, seconds;
            for (const Outcome& o : outcomes.done())
              if (is(tasks[t], across[c])(o.trial->config()) && o.record.seconds) {
                seconds.push_back(*o.record.seconds);
                rate.push_back(double(o.trial->config().count("steps")) / seconds.back());
              }
            return {{number_text(median(rate), {1, 1}), rate.empty() ? "" : fmt::format("{:.0f} s", median(seconds))},
                    {rate.size(), number(median(rate)), number(median(seconds))}};
          }});
  s.notes = {how_many(outcomes)};
  if (const std::string made = machines(outcomes); !made.empty()) s.notes.push_back(made);
  s.notes.push_back("The numbers of the paper's table 2 are not in our copy of it.");
  return s;
}

Section fig2(const Outcomes& outcomes, const Choices& defaults) {
  Section s;
  s.data = {{"task", "positions", "train_length", "seed", "step", "seconds", "accuracy"}, {}};
  constexpr double good = 0.9;
  constexpr int in_a_row = 3;  // tests above it: a small test is now and then above by luck
  for (const std::string& task : outcomes.tasks()) {
    Chart chart = accuracy_chart("time-" + task, "Accuracy on unseen lengths against seconds of training, " + task,
                                 "seconds of training", 0, 1);
    chart.unit = "second";
    double reached[2] = {std::nan(""), std::nan("")}, rate[2] = {std::nan(""), std::nan("")}, between[2] = {0, 0};
    bool ran[2] = {false, false};
    for (const bool naive : {false, true})
      for (const Outcome& o : outcomes.done()) {
        const Choices& c = o.trial->config();
        if (c["task"] != task || (c["positions"] == "sequential") != naive) continue;
        Curve curve{fmt::format("{} to length {}", naive ? "Relative" : "R-Relative", c.whole("train_length")),
                    naive ? 0 : 1,
                    {},
                    {}};
        int row = 0;
        ran[naive] = true;
        const std::vector<Test> all = tests(o, defaults.whole("train_length"));
        for (const Test& t : all) {
          curve.points.push_back({t.seconds, t.accuracy});
          row = t.accuracy > good ? row + 1 : 0;
          if (std::isnan(reached[naive]) && row == in_a_row) reached[naive] = (curve.points.end() - in_a_row)->x;
          s.data.rows.push_back(
              {task, c["positions"], c.whole("train_length"), c.count("seed"), t.step, t.seconds, t.accuracy});
        }
        if (all.empty()) continue;
        chart.x_high = std::max(chart.x_high, curve.points.back().x);
        rate[naive] = double(all.back().step) / all.back().seconds;
        between[naive] = all.back().seconds / double(all.size());
        chart.curves.push_back(curve);
      }
    if (chart.curves.empty()) continue;
    if (!std::isnan(rate[0] + rate[1]))
      s.readings.push_back(
          fmt::format("{}: {:.3g} steps a second on short strings with randomized positions, {:.3g} on long ones: "
                      "{:.1f} times as many (paper: 168.4 and "
                      "22.1 on a V100, 7.6 times).",
                      task, rate[0], rate[1], rate[0] / rate[1]));
    const auto seconds = [&](bool naive) {
      if (!ran[naive]) return std::string("not yet run");
      return std::isnan(reached[naive])
                 ? std::string("not in this run")
                 : fmt::format("after {:.3g} s (a test every {:.2g} s)", reached[naive], between[naive]);
    };
    s.readings.push_back(fmt::format(
        "More than 90 % right in three tests in a row: randomized {}, naive {}{} (paper: 35.4 times sooner).",
        seconds(false), seconds(true),
        std::isnan(reached[0] + reached[1]) ? "" : fmt::format(", {:.1f} times later", reached[1] / reached[0])));
    s.pictures.push_back(
        picture(chart, fmt::format("<b>{}.</b> Small tests while training, at some of the lengths beyond {}; their own "
                                   "time is not counted.",
                                   headed(task), defaults.whole("train_length"))));
    if (const Cell cell = task_cell(outcomes, task); !cell.below.empty())
      s.notes.push_back(fmt::format("{}, without reading the order of the symbols: {}.", task, in_one(cell.below)));
  }
  s.notes.push_back(how_many(outcomes));
  if (const std::string made = machines(outcomes); !made.empty()) s.notes.push_back(made);
  s.notes.push_back(
      "Our copy of the paper has no captions, so we do not know the task of its figure 2; Even Pairs is our choice.");
  return s;
}

}  // namespace poslab::reproduce::ruoss2023
