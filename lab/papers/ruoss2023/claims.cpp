// What Ruoss et al. claim in sentences: each as a difference that must be above zero, or near it, with the same formula
// for the numbers of their tables.
#include "lab/papers/claims.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>

#include "lab/papers/paper.h"
#include "lab/papers/ruoss2023/ruoss2023.h"

namespace poslab::reproduce::ruoss2023 {
namespace {

using Tasks = std::vector<std::string>;

// The five on which the paper's table 5 has geometric attention ahead, and the others that are not level.
const Tasks arithmetic = {"modular_arithmetic", "modular_arithmetic_brackets", "solve_equation",
                          "binary_multiplication", "compute_sqrt"};
Tasks others() {
  Tasks some;
  for (const std::string& task : fifteen())
    if (std::find(arithmetic.begin(), arithmetic.end(), task) == arithmetic.end()) some.push_back(task);
  return some;
}

// The mean of several numbers that stand for one: of seeds that all of them have.
Beside mean_of(const std::vector<Beside>& all) {
  Beside mean{all.empty() ? BySeed{} : all[0].ours, 0};
  for (const Beside& one : all) {
    mean.source += one.source / double(all.size());
    std::erase_if(mean.ours, [&](const auto& kept) { return !one.ours.count(kept.first); });
  }
  for (auto& [seed, value] : mean.ours) {
    value = 0;
    for (const Beside& one : all) value += one.ours.at(seed) / double(all.size());
  }
  return mean;
}

// What was trained for the claims.
class Trained {
 public:
  Trained(const Outcomes& outcomes, const Choices& defaults) : outcomes_(outcomes), defaults_(defaults) {}

  // Accuracy beyond the trained lengths: of a column of table 1, geometric attention, unsorted positions, a pool.
  Beside of(const std::string& task, const Column& c) const {
    return {summary(task, c, pool()).by_seed, paper_value("ruoss2023_table1", task, c.paper) / 100};
  }
  Beside geometric(const std::string& task) const {
    return {summary(task, {"", "geometric", "sequential", "", 0}, pool()).by_seed,
            paper_value("ruoss2023_table5", task, "geometric") / 100};
  }
  Beside in_order(const std::string& task, bool sorted) const {
    const std::string column = sorted ? "rand_sincos_sorted" : "rand_sincos_unsorted";
    Column c = columns()[6];
    if (!sorted) c.positions = out_of_order;
    return {summary(task, c, pool()).by_seed, paper_value("ruoss2023_table3", task, column) / 100};
  }
  Beside with_pool(const std::string& task, double factor) const {
    return {summary(task, columns()[7], int64_t(factor * double(pool()))).by_seed, std::nan("")};
  }
  // Accuracy at the trained lengths: a figure in the paper, without numbers.
  Beside in_domain(const std::string& task, const Column& c) const {
    Beside one{{}, std::nan("")};
    for (const Outcome* run : summary(task, c, pool()).at_lr) {
      const Choices& config = run->trial->config();
      one.ours[config.whole("seed")] = mean_at(*run, 1, config.whole("train_length"));
    }
    return one;
  }
  // The best of columns first .. last of table 1, seed by seed.
  Beside best(const std::string& task, size_t first, size_t last) const {
    Beside best = of(task, columns()[first]);
    for (size_t i = first + 1; i <= last; ++i) {
      const Beside one = of(task, columns()[i]);
      best.source = std::max(best.source, one.source);
      std::erase_if(best.ours, [&](const auto& kept) { return !one.ours.count(kept.first); });
      for (auto& [seed, value] : best.ours) value = std::max(value, one.ours.at(seed));
    }
    return best;
  }
  Beside best_plain(const std::string& task) const { return best(task, 0, 5); }
  Beside best_randomized(const std::string& task) const { return best(task, 6, 10); }

 private:
  int64_t pool() const { return defaults_.whole("max_position"); }
  Summary summary(const std::string& task, const Column& c, int64_t pool) const {
    return outcomes_.summary([&](const Choices& one) { return is(task, c)(one) && one.whole("max_position") == pool; });
  }
  const Outcomes& outcomes_;
  const Choices& defaults_;
};

struct PaperClaim {
  std::string text, difference;
  std::function<Beside(const Trained&)> value;
  double within = 0;
};

// The mean over these tasks of what `value` says of each.
std::function<Beside(const Trained&)> over(const Tasks& tasks,
                                           std::function<Beside(const Trained&, const std::string&)> value) {
  return [=](const Trained& t) {
    std::vector<Beside> all;
    for (const std::string& task : tasks) all.push_back(value(t, task));
    return mean_of(all);
  };
}

Beside gain(const Trained& t, const std::string& task) { return t.best_randomized(task) - t.best_plain(task); }
Beside against_geometric(const Trained& t, const std::string& task) {
  return t.best_randomized(task) - t.geometric(task);
}
Beside relative_gain(const Trained& t, const std::string& task) {
  return t.of(task, columns()[7]) - t.best_plain(task);
}

std::vector<PaperClaim> all_claims() {
  std::vector<PaperClaim> list = {
      {"Randomized positions raise accuracy on unseen lengths", "best randomized - best plain, mean of 15 tasks",
       over(fifteen(), gain)},
      {"They do so on most tasks", "share of tasks with a gain - 1/2",
       over(fifteen(),
            [](const Trained& t, const std::string& task) {
              Beside one = gain(t, task);
              for (auto& [seed, value] : one.ours) value = (value > 0 ? 0.5 : -0.5);
              one.source = one.source > 0 ? 0.5 : -0.5;
              return one;
            })},
      {"Randomized relative positions solve Reverse String, which was out of reach", "R-Relative - best plain",
       over({"reverse_string"}, relative_gain)},
      {"They solve Missing Duplicate likewise", "R-Relative - best plain",
       over({"missing_duplicate_string"}, relative_gain)},
      {"Positions must be in order", "sorted - unsorted R-sin/cos, mean of 15 tasks",
       over(fifteen(), [](const Trained& t,
                          const std::string& task) { return t.in_order(task, true) - t.in_order(task, false); })},
      {"Geometric attention is ahead on five arithmetic tasks", "geometric - best randomized, mean of these",
       over(arithmetic, [](const Trained& t, const std::string& task) { return -1 * against_geometric(t, task); })},
      {"On the others randomized positions are ahead", "best randomized - geometric, mean of these",
       over(others(), against_geometric)},
  };
  for (size_t i = 1; i <= 5; ++i)
    list.push_back(
        {fmt::format("At trained lengths {} loses nothing by it: less than 2 points", columns()[i].name),
         fmt::format("{} - {} at trained lengths, mean of 15 tasks", columns()[i + 5].name, columns()[i].name),
         over(fifteen(),
              [i](const Trained& t, const std::string& task) {
                return t.in_domain(task, columns()[i + 5]) - t.in_domain(task, columns()[i]);
              }),
         0.02});
  for (const auto& [task, name] : pool_tasks)
    list.push_back({fmt::format("On {} the size of the pool hardly matters: less than 2 points", name),
                    "pool of four times the size - of half the size, R-Relative",
                    over({task},
                         [](const Trained& t, const std::string& task) {
                           return t.with_pool(task, pool_factors.back()) - t.with_pool(task, pool_factors.front());
                         }),
                    0.02});
  return list;
}

}  // namespace

Section claims(const Outcomes& outcomes, const Choices& defaults) {
  const Trained trained(outcomes, defaults);
  Section s;
  s.data = {{"claim", "difference", "seeds", "mean", "interval_low", "interval_high", "within", "source", "verdict"},
            {}};
  const std::vector<PaperClaim> list = all_claims();
  Verdicts verdicts;
  const auto claim = [](const PaperClaim& c) { return Line{{c.text, c.difference}, {c.text, c.difference}}; };
  add(s, {"Holds, does not, or is inconclusive; below that the difference in points, its interval, and the source's",
          "claim",
          lines(list, claim),
          {{{"here"}}},
          [&](size_t row, size_t) { return verdicts.cell(list[row].value(trained), list[row].within); }});
  s.readings = {verdicts.reading()};
  s.notes = {verdicts.note() + " A best is the best of a seed, on both sides, so that luck counts on both.",
             how_many(outcomes), about_intervals(outcomes),
             "What training costs, which the paper claims to save, is in table 2 and figure 2."};
  return s;
}

}  // namespace poslab::reproduce::ruoss2023
