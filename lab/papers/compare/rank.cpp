// From results to an order. How it is shown is in ranking.cpp.
#include <algorithm>

#include "experiment/build.h"
#include "lab/papers/compare/ranking.h"

namespace poslab::compare {

using namespace reproduce;

namespace {

Which is(const std::string& task, const Choices& like) {
  return [=](const Choices& c) {
    return c["task"] == task && c["encoding"] == like["encoding"];
  };
}

// Those that can be run, in the order of the plan.
std::vector<Entry> entries(const Outcomes& outcomes) {
  std::vector<Entry> all;
  for (const Trial& t : outcomes.plan()) {
    const bool known = std::any_of(all.begin(), all.end(), [&](const Entry& e) {
      return e.trial->config()["encoding"] == t.config()["encoding"];
    });
    if (known || !t.impossible.empty()) continue;
    all.push_back({RunSpec(t.config()).scheme.spelled(), &t});
    for (const std::string& task : outcomes.tasks()) all.back().tasks[task] = outcomes.summary(is(task, t.config()));
  }
  return all;
}

bool failed_on(const Outcomes& outcomes, const Entry& e, const std::string& task) {
  const Which which = is(task, e.trial->config());
  return !e.tasks.at(task).runs && std::any_of(outcomes.missing().begin(), outcomes.missing().end(), [&](auto& m) {
    return m.state == TrialState::failed && which(m.trial->config());
  });
}

std::vector<std::string> tasks_of_all(const Outcomes& outcomes, const std::vector<Entry>& all) {
  std::vector<std::string> tasks = outcomes.tasks();
  std::vector<const Entry*> voters;
  for (const Entry& e : all) {
    const bool any = std::any_of(tasks.begin(), tasks.end(), [&](auto& task) { return e.tasks.at(task).runs > 0; });
    const bool failed =
        std::any_of(tasks.begin(), tasks.end(), [&](auto& task) { return failed_on(outcomes, e, task); });
    if (any && !failed) voters.push_back(&e);
  }
  std::erase_if(tasks, [&](const std::string& task) {
    return voters.empty() ||
           !std::all_of(voters.begin(), voters.end(), [&](const Entry* e) { return e->tasks.at(task).runs > 0; });
  });
  return tasks;
}

double trained_accuracy(const Outcome& o) {
  std::vector<double> all;
  for (const AtLength& row : o.tested)
    if (row.length <= o.trial->config().whole("train_length")) all.push_back(row.accuracy);
  return mean(all);
}

double step_seconds(const Outcome& o) {
  return o.record.seconds ? *o.record.seconds / double(o.trial->config().count("steps")) : std::nan("");
}

// Over the runs behind the scores of these tasks: a mean of each task, then of the tasks.
template <class Value>
double over_runs(const Entry& e, const std::vector<std::string>& tasks, const Value& value) {
  std::vector<double> means;
  for (const std::string& task : tasks) {
    std::vector<double> each;
    for (const Outcome* o : e.tasks.at(task).at_lr) each.push_back(value(*o));
    means.push_back(mean(each));
  }
  return mean(means);
}

void add_scores(Entry& e, const std::vector<std::string>& tasks) {
  if (tasks.empty()) return;
  for (const auto& [seed, first] : e.tasks.at(tasks[0]).by_seed) {
    std::vector<double> scores;
    for (const std::string& task : tasks)
      if (const auto at = e.tasks.at(task).by_seed.find(seed); at != e.tasks.at(task).by_seed.end())
        scores.push_back(at->second);
    if (scores.size() == tasks.size()) e.scores[seed] = mean(scores);
  }
  std::vector<double> scores;
  for (const auto& [seed, score] : e.scores) scores.push_back(score);
  e.mean = mean(scores), e.interval = bootstrap(scores);
  if (!scores.empty()) e.trained = trained(e, tasks);
}

}  // namespace

double trained(const Entry& e, const std::vector<std::string>& tasks) { return over_runs(e, tasks, trained_accuracy); }

double time_of(const Entry& e, const Entry& other, const std::vector<std::string>& tasks) {
  return over_runs(e, tasks, step_seconds) / over_runs(other, tasks, step_seconds);
}

Ranking rank(const Outcomes& outcomes) {
  Ranking r;
  std::vector<Entry> all = entries(outcomes);
  r.tasks = tasks_of_all(outcomes, all);
  for (Entry& e : all) {
    add_scores(e, r.tasks);
    (e.scores.empty() ? r.unranked : r.ranked).push_back(std::move(e));
  }
  std::stable_sort(r.ranked.begin(), r.ranked.end(), [](const Entry& a, const Entry& b) { return a.mean > b.mean; });
  const auto none = std::find_if(r.ranked.begin(), r.ranked.end(), [](const Entry& e) { return e.name == "none"; });
  for (Entry& e : r.ranked) {
    if (none != r.ranked.end()) {
      if (&e != &*none) e.ahead = paired(e.scores, none->scores);
      e.time = time_of(e, *none, r.tasks);
    }
    e.ties = e.interval.high >= r.ranked[0].interval.low;  // of NaNs, with one seed: false
  }
  return r;
}

}  // namespace poslab::compare
