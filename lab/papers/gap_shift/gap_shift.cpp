#include "lab/papers/gap_shift/gap_shift.h"

#include <algorithm>

#include "tasks/baselines.h"

namespace poslab::reproduce::gap_shift {
namespace {

const std::vector<std::string> tasks = {"reverse_string", "missing_duplicate_string", "bucket_sort"};
const std::vector<std::string> schemes = {"sincos", "relative", "rope"};

Trials with(const std::vector<std::string>& positions) {
  return {{{"task", tasks}, {"encoding", schemes}, {"positions", positions}}};
}

}  // namespace

std::vector<Training> trainings(const Choices& defaults) {
  const std::string floats = fmt::format("random_floats:range={}", defaults.whole("max_position"));
  return {{"uniform", "randomized"},
          {"log density", "log_density"},
          {"blocks", "blocks"},
          {"random floats", choose_sampler(floats).spelled()}};
}

std::string even_positions(const Choices& run) {
  if (!run["positions"].starts_with("random_floats")) return "evenly_spread";
  return fmt::format("float_midpoints:range={},trained={}", run["max_position"], slots(run, run.whole("train_length")));
}

Trials of_uniform(const Choices& defaults) { return with({trainings(defaults).front().positions}); }
Trials of_matched(const Choices& defaults) {
  std::vector<std::string> positions;
  for (const Training& t : trainings(defaults)) positions.push_back(t.positions);
  return with(positions);
}

std::vector<Setting> settings(const Outcomes& outcomes, const Choices& defaults) {
  std::vector<Setting> all;
  for (const std::string& task : outcomes.tasks())
    for (const std::string& encoding : schemes)
      for (const Training& t : trainings(defaults)) {
        const Which these = [&](const Choices& c) {
          return c["task"] == task && c["encoding"] == encoding && c["positions"] == t.positions;
        };
        if (outcomes.plans(these)) all.push_back({task, encoding, t, outcomes.by_seed(these)});
      }
  return all;
}

Choices on_task(Choices defaults, const std::string& task) {
  defaults.set("task", task);
  return defaults;
}

std::vector<int> lengths(const Choices& c) {
  std::vector<int> all;
  for (int length = std::max(1, c.whole("train_length") / 2);
       length <= std::max(c.lengths("eval_lengths").to, c.whole("train_length")); length *= 2)
    all.push_back(length);
  return all;
}

double own_gap(const Choices& c, int length) { return (c.whole("max_position") + 1.) / (slots(c, length) + 1.); }
std::string scattered(double gap) { return fmt::format("scattered:gap={}", gap); }
int strings(const Choices& c) { return std::min(512, 16 * c.whole("eval_samples")); }

double majority(const Choices& c, int length) { return baselines(task(c["task"]), length, 2000, 0).majority; }

}  // namespace poslab::reproduce::gap_shift
