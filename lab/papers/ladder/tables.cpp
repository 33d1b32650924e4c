// The ladder's three tables: what was registered, what the first stage chose, and the verdict.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "lab/files/shell.h"
#include "lab/papers/ladder/ladder.h"
#include "lab/papers/paper.h"
#include "lab/papers/ruoss2023/ruoss2023.h"

namespace poslab::reproduce::ladder {
namespace {

std::string text(Lengths at) { return fmt::format("{} to {}", at.from, at.to); }
std::string p_text(double p) { return p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", p); }

// The best that the paper prints for the task, in percent.
double printed(const std::string& task) {
  double most = paper_value("ruoss2023_table5", task, "geometric");
  for (const ruoss2023::Column& c : ruoss2023::columns())
    most = std::max(most, paper_value("ruoss2023_table1", task, c.paper));
  return most;
}

// What differs from the registered runs, for a page that must not pass for it; "" if nothing does.
std::string unlike(const Choices& c) {
  const Registered& r = registered();
  if (c["preset"] == "tiny" && c.count("steps") == r.steps) return "";
  return fmt::format("This is not the registered experiment: preset {} and {} steps in place of tiny and {}.",
                     c["preset"], c.count("steps"), r.steps);
}

std::string median_and_best(const BySeed& all) {
  const std::vector<double> x = values(all);
  if (x.empty()) return "";
  return fmt::format("median {}\nbest {}", points(median(x)), points(*std::max_element(x.begin(), x.end())));
}

const Prediction& prediction(const std::string& task) {
  const auto& all = registered().predictions;
  return *std::find_if(all.begin(), all.end(), [&](const Prediction& p) { return p.task == task; });
}

// "3 of 15 tasks have a verdict. Above the best scheme ... is 1 of them: reverse_string (two-ended, +29.1 points). ..."
std::vector<std::string> stated(const std::vector<Contest>& all) {
  std::vector<std::string> above, level, open;
  for (const Contest& c : all) {
    if (!c.done) {
      open.push_back(c.task);
      continue;
    }
    (c.above() ? above : level)
        .push_back(
            fmt::format("{} ({}, {} points)", c.task, c.candidate->name, signed_points(mean(c.ours) - mean(c.theirs))));
  }
  if (open.size() == all.size()) return {"No task has a verdict yet."};
  const size_t judged = all.size() - open.size();
  std::vector<std::string> said = {fmt::format(
      "{} of {} tasks {} a verdict. Above the best scheme of tables 1 and 5, trained at the same budget, is {}.{}",
      judged, all.size(), judged == 1 ? "has" : "have",
      above.empty() ? "none of them" : fmt::format("{} of them: {}", above.size(), fmt::join(above, "; ")),
      level.empty() ? "" : fmt::format(" Not above: {}.", fmt::join(level, "; ")))};
  if (!open.empty()) said.push_back(fmt::format("Not done, and in the family with p = 1: {}.", fmt::join(open, ", ")));
  return said;
}

// How good the registered probabilities were, over the tasks that have a verdict.
std::string calibration(const std::vector<Contest>& all) {
  double expected = 0, squares = 0, error = 0;
  int done = 0, above = 0;
  for (const Contest& c : all) {
    if (!c.done) continue;
    const Prediction& p = prediction(c.task);
    ++done, above += c.above();
    expected += p.above, squares += std::pow(p.above - c.above(), 2);
    error += std::abs(p.accuracy - mean(c.ours));
  }
  if (!done) return "";
  return fmt::format(
      "On these tasks the registered probabilities add up to {:.1f}, and {} came out above; their Brier score "
      "is {:.2f}, where a half everywhere has 0.25. Accuracies were predicted with a mean error of {} "
      "points.",
      expected, above, squares / done, points(error / done));
}

// The runs that a verdict on everything still takes, at the mean time of those that are done.
std::string price(const Outcomes& outcomes) {
  double seconds = 0;
  for (const Outcome& o : outcomes.done()) seconds += o.record.seconds.value_or(0);
  if (outcomes.done().empty() || outcomes.missing().empty()) return "";
  size_t undecided = 0;
  for (const Contest& c : contests(outcomes, Family::own_candidate)) undecided += !c.candidate;
  const size_t runs = outcomes.missing().size() + 2 * registered().second_seeds.size() * undecided;
  return fmt::format(
      "What is missing of the choices of each task is {}; at the mean time of those that are done, {:.1f} "
      "hours of one core.",
      counted(runs, "run"), seconds / double(outcomes.done().size()) * double(runs) / 3600);
}

Grid contest_grid(const std::vector<Contest>& all, const std::string& caption, const Outcomes& outcomes) {
  Grid grid{
      caption,
      {"task", "candidate", "accuracy", "opponent", "accuracy", "difference", "p after Holm", "expected", "verdict"},
      {}};
  for (const Contest& c : all) {
    if (!c.candidate) continue;
    const Prediction& p = prediction(c.task);
    const BySeed d = difference(c.ours, c.theirs);
    grid.rows.push_back({task_cell(outcomes, c.task, {within(registered().judge)}, registered().second_seeds),
                         {c.candidate->name, "told: " + c.candidate->structure},
                         {points(mean(c.ours)), median_and_best(c.ours)},
                         {c.opponent->name},
                         {points(mean(c.theirs)), median_and_best(c.theirs)},
                         {signed_points(mean(d)), interval_text(t_interval(values(d)), true), c.above()},
                         {c.done ? p_text(c.holm) : "–"},
                         {points(p.accuracy), fmt::format("above with {:.2f}", p.above)},
                         {!c.done     ? fmt::format("{} and {} of {} seeds", c.ours.size(), c.theirs.size(),
                                                    registered().second_seeds.size())
                          : c.above() ? "above"
                                      : "not above",
                          "", c.above()}});
  }
  return grid;
}

void add_data(Table& table, const std::vector<Contest>& all, const std::string& family) {
  for (const Contest& c : all) {
    if (!c.candidate) continue;
    const std::vector<double> ours = values(c.ours), theirs = values(c.theirs),
                              d = values(difference(c.ours, c.theirs));
    const Interval t = t_interval(d), flipped = permutation_interval(d), b = bootstrap(d);
    table.rows.push_back({family,
                          c.task,
                          c.candidate->name,
                          c.candidate->structure,
                          c.opponent->name,
                          int(d.size()),
                          number(poslab::mean(ours)),
                          number(median(ours)),
                          number(poslab::mean(theirs)),
                          number(median(theirs)),
                          number(poslab::mean(d)),
                          number(b.low),
                          number(b.high),
                          number(t.low),
                          number(t.high),
                          number(flipped.low),
                          number(flipped.high),
                          number(c.p),
                          number(c.holm),
                          c.done ? (c.above() ? "above" : "not above") : "not done",
                          prediction(c.task).above,
                          prediction(c.task).accuracy,
                          number(printed(c.task) / 100)});
  }
}

}  // namespace

Section plan(const Outcomes&, const Choices&) {
  const Registered& r = registered();
  Section s;
  s.data = {{"task", "above", "accuracy", "paper", "why"}, {}};
  Grid candidates{"The candidates", {"name", "--encoding", "--positions", "--temperature", "told of the task"}, {}};
  for (const Rung& c : r.candidates)
    candidates.rows.push_back({{c.name}, {c.encoding}, {c.positions}, {c.temperature}, {c.structure}});
  Grid expected{fmt::format("What is expected: accuracy in % at lengths {}, and the probability of a verdict above",
                            text(r.judge)),
                {"task", "probability", "accuracy", "why", "best that the paper prints"},
                {}};
  double sum = 0;
  for (const Prediction& p : r.predictions) {
    sum += p.above;
    expected.rows.push_back(
        {{p.task}, {fmt::format("{:.2f}", p.above)}, {points(p.accuracy)}, {p.why}, {points(printed(p.task) / 100)}});
    s.data.rows.push_back({p.task, p.above, p.accuracy, number(printed(p.task) / 100), p.why});
  }
  s.readings = {
      fmt::format("{} and {} opponents were registered, in ladder.toml, before the first training. The goal is "
                  "{} of {} tasks above, and the probabilities add up to {:.1f}.",
                  counted(r.candidates.size(), "candidate"), r.opponents.size(), r.goal, r.predictions.size(), sum)};
  s.grids = {candidates, expected};
  s.notes = {
      "The paper's numbers are the best of 30 runs of 2 million steps at lengths 41 to 500. They are not those "
      "of the opponents, which are trained here at the candidates' budget."};
  return s;
}

Section chosen(const Outcomes& outcomes, const Choices& c) {
  const Registered& r = registered();
  Section s;
  s.data = {{"task", "name", "is", "seeds", "at_choose", "at_judge", "chosen"}, {}};
  const std::vector<std::string> tasks = outcomes.tasks();
  const auto pivot = [&](const std::vector<Rung>& rungs, bool candidates) {
    const Lengths first = candidates ? r.choose : r.judge, second = candidates ? r.judge : r.choose;
    std::vector<Line> across;
    for (const Rung& one : rungs) across.push_back({{one.name}, {one.name, candidates ? "candidate" : "opponent"}});
    add(s,
        {fmt::format("Accuracy of the {} in % at lengths {}, mean over the seeds; below it at {}; baselines at both. "
                     "Bold: chosen",
                     candidates ? "candidates" : "opponents", text(first), text(second)),
         "task", of_tasks(outcomes, {within(first), within(second)}), across,
         [&, first, second, candidates](size_t t, size_t n) -> Value {
           const BySeed at = scores(outcomes, tasks[t], rungs[n], first, r.first_seeds),
                        other = scores(outcomes, tasks[t], rungs[n], second, r.first_seeds);
           if (at.empty()) return {{"–"}};
           const Choice which = choice(outcomes, tasks[t]);
           const bool is = (candidates ? which.candidate : which.opponent) == &rungs[n];
           const BySeed &choose = candidates ? at : other, &judge = candidates ? other : at;
           return {{points(mean(at)), points(mean(other)), is},
                   {int(at.size()), number(mean(choose)), number(mean(judge)), is}};
         }});
  };
  pivot(r.candidates, true), pivot(r.opponents, false);
  std::vector<std::string> decided;
  for (const std::string& task : fifteen())
    if (const Choice one = choice(outcomes, task); one.candidate)
      decided.push_back(fmt::format("{}: {} against {}", task, one.candidate->name, one.opponent->name));
  if (decided.empty())
    s.readings = {"No task has all of its runs yet, so nothing is chosen."};
  else
    s.readings = {
        fmt::format("Chosen on {} of {} tasks: {}.", decided.size(), fifteen().size(), fmt::join(decided, "; "))};
  const Rung* const same = for_all_tasks(outcomes);
  s.readings.push_back(same ? fmt::format("One configuration for all tasks: {}.", same->name)
                            : "One configuration for all tasks is chosen when all tasks are done.");
  s.notes = {how_many(outcomes),
             "Candidates are chosen at the shorter lengths only; opponents at the judged ones, to their advantage."};
  if (const std::string why = unlike(c); !why.empty()) s.notes.push_back(why);
  return s;
}

Section verdict(const Outcomes& outcomes, const Choices& c) {
  const Registered& r = registered();
  Section s;
  s.data = {{"family",
             "task",
             "candidate",
             "structure",
             "opponent",
             "seeds",
             "mean",
             "median",
             "opponent_mean",
             "opponent_median",
             "difference",
             "bootstrap_low",
             "bootstrap_high",
             "t_low",
             "t_high",
             "permutation_low",
             "permutation_high",
             "p",
             "p_holm",
             "verdict",
             "expected_above",
             "expected_accuracy",
             "paper"},
            {}};
  const std::vector<Contest> own = contests(outcomes, Family::own_candidate),
                             same = contests(outcomes, Family::one_for_all);
  if (const std::string why = unlike(c); !why.empty()) s.readings.push_back(why);
  for (const std::string& one : stated(own)) s.readings.push_back(one);
  const auto above = size_t(std::count_if(own.begin(), own.end(), [](const Contest& one) { return one.above(); }));
  const auto open = size_t(std::count_if(own.begin(), own.end(), [](const Contest& one) { return !one.done; }));
  s.readings.push_back(fmt::format("The goal, {} tasks above, is {}.", r.goal,
                                   above >= size_t(r.goal)          ? "reached"
                                   : above + open >= size_t(r.goal) ? "still open"
                                                                    : "missed"));
  if (const std::string one = calibration(own); !one.empty()) s.readings.push_back(one);
  if (const std::string one = price(outcomes); !one.empty()) s.notes.push_back(one);
  const std::string what = fmt::format("accuracy in % at lengths {}, seeds {} to {}", text(r.judge),
                                       r.second_seeds.front(), r.second_seeds.back());
  if (std::any_of(own.begin(), own.end(), [](const Contest& one) { return one.candidate; }))
    s.grids.push_back(contest_grid(own, "Each task's candidate against its opponent: " + what, outcomes));
  add_data(s.data, own, "each task's");
  if (for_all_tasks(outcomes)) {
    for (const std::string& one : stated(same)) s.readings.push_back("One configuration for all tasks. " + one);
    s.grids.push_back(contest_grid(same, "One configuration for all tasks: " + what, outcomes));
    add_data(s.data, same, "one for all");
  }
  s.notes.push_back(
      fmt::format("Above: a higher mean, and p below {} after Holm over all {} tasks, by flipped signs of "
                  "the differences of equal seeds. Difference: Student's interval at 95 %, not corrected; "
                  "the .csv has the others.",
                  r.level, fifteen().size()));
  s.notes.push_back(
      "Told: what of the tasks a candidate knows beside the order of its slots. Segments are the same rule "
      "for all tasks, and no opponent has them.");
  return s;
}

}  // namespace poslab::reproduce::ladder
