// Table 1 without choosing on what is tested: the run is chosen on the lengths just past training, and scored on all
// longer ones. The paper's way, the best of all runs on the tested lengths themselves, stands beside it.
#include <fmt/format.h>

#include <cmath>

#include "lab/papers/ruoss2023/ruoss2023.h"

namespace poslab::reproduce::ruoss2023 {
namespace {

struct Scores {
  double paper_way = std::nan("");                         // the best of all on the lengths that are scored
  double chosen = std::nan(""), validated = std::nan("");  // of the run that is best at validation: test, validation
  std::vector<double> all;                                 // test scores of all runs
};

Scores scores_of(const Outcomes& outcomes, const Which& which, int trained, int last) {
  Scores s;
  for (const Outcome& o : outcomes.done()) {
    if (!which(o.trial->config())) continue;
    const double valid = mean_at(o, trained + 1, 2 * trained), test = mean_at(o, 2 * trained + 1, last);
    if (std::isnan(valid) || std::isnan(test)) continue;
    if (!(valid <= s.validated)) s.validated = valid, s.chosen = test;
    if (!(test <= s.paper_way)) s.paper_way = test;
    s.all.push_back(test);
  }
  return s;
}

}  // namespace

Section chosen(const Outcomes& outcomes, const Choices& defaults) {
  const int trained = defaults.whole("train_length"), last = defaults.lengths("eval_lengths").to;
  Section s;
  s.data = {{"task", "encoding", "positions", "runs", "paper_way", "chosen", "validation", "mean", "median",
             "expected_best_of_2"},
            {}};
  if (last <= 2 * trained) {
    s.readings = {
        fmt::format("No length beyond {}, twice the trained ones, is tested; raise eval_lengths.", 2 * trained)};
    return s;
  }
  std::vector<double> gain;
  const std::vector<std::string> tasks = outcomes.tasks();
  const std::vector<Column> across = columns_of(outcomes);
  add(s, {fmt::format("Accuracy in % at lengths {} to {}: of the run that is best at lengths {} to {}; below it the "
                      "paper's way, the best of all runs, and the mean",
                      2 * trained + 1, last, trained + 1, 2 * trained),
          "task", of_tasks(outcomes, {within({2 * trained + 1, last})}), of_columns(across),
          [&](size_t t, size_t c) -> Value {
            const Scores one = scores_of(outcomes, is(tasks[t], across[c]), trained, last);
            if (one.all.empty()) return {{"–"}};
            const double m = poslab::mean(one.all);
            const bool several = one.all.size() > 1;
            if (several) gain.push_back(one.paper_way - one.chosen);
            return {{points(one.chosen), several ? fmt::format("{}\n{}", points(one.paper_way), points(m)) : "1 run"},
                    {int(one.all.size()), number(one.paper_way), number(one.chosen), number(one.validated), number(m),
                     number(median(one.all)), number(expected_best(one.all, 2))}};
          }});
  if (!gain.empty())
    s.readings = {fmt::format(
        "Choosing on the tested lengths, as the paper does, adds {} points on average over the {} cells with "
        "two runs or more.",
        signed_points(poslab::mean(gain)), gain.size())};
  else
    s.readings = {"No cell has two runs to choose from yet, so the paper's way and this one are the same."};
  s.notes = {how_many(outcomes),
             "All seeds and learning rates of a cell are what is chosen from. The .csv also has the median, the score "
             "at validation, and the expected best of two runs."};
  return s;
}

}  // namespace poslab::reproduce::ruoss2023
