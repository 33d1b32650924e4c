// Whether randomized positions help where the paper says so: each comparison of table 1 with its seeds, by the
// bootstrap, Student's interval and flipped signs, and all of them as one family after Holm.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "lab/files/shell.h"
#include "lab/papers/paper.h"
#include "lab/papers/ruoss2023/ruoss2023.h"

namespace poslab::reproduce::ruoss2023 {
namespace {

constexpr size_t enough = 3;  // seeds for a test: two can be close to each other by luck

struct Sign {
  std::string task, scheme;
  double paper;                                          // difference of the paper's bests, a fraction
  std::vector<double> differences;                       // randomized minus plain, of each seed that both have
  double student = std::nan(""), flipped = std::nan("");  // p after Holm; NaN of too few seeds
};

std::vector<Sign> signs_of(const Outcomes& outcomes) {
  std::vector<Sign> all;
  for (const std::string& task : outcomes.tasks())
    for (size_t i = 1; i <= 5; ++i) {
      const Column &plain = columns()[i], &random = columns()[i + 5];
      const auto paper = [&](const Column& c) { return paper_value("ruoss2023_table1", task, c.paper) / 100; };
      const auto scores = [&](const Column& c) { return outcomes.summary(is(task, c)).by_seed; };
      const BySeed more = difference(scores(random), scores(plain));
      all.push_back({task, plain.name, paper(random) - paper(plain), values(more)});
    }
  return all;
}

void correct(std::vector<Sign>& all, double Sign::*p, double (*test)(const std::vector<double>&)) {
  std::vector<double> raw;
  std::vector<Sign*> family;
  for (Sign& s : all)
    if (s.differences.size() >= enough) raw.push_back(test(s.differences)), family.push_back(&s);
  const std::vector<double> adjusted = holm(raw);
  for (size_t i = 0; i < family.size(); ++i) family[i]->*p = adjusted[i];
}

// "Of 40 comparisons in which the paper has a difference of 2 points or more, 31 have its sign here ..."
std::vector<std::string> readings(const std::vector<Sign>& all) {
  int compared = 0, agree = 0, firm_for = 0, firm_against = 0, tested = 0;
  size_t fewest = SIZE_MAX, most = 0;
  for (const Sign& s : all) {
    if (s.differences.empty() || std::abs(s.paper) < 0.02) continue;
    const bool same = poslab::mean(s.differences) * s.paper > 0;
    ++compared, agree += same, tested += !std::isnan(s.student);
    fewest = std::min(fewest, s.differences.size()), most = std::max(most, s.differences.size());
    if (s.student < 0.05) ++(same ? firm_for : firm_against);
  }
  if (!compared) return {"No comparison has a seed that both sides have."};
  std::vector<std::string> said = {fmt::format(
      "Of {} in which the paper's bests differ by 2 points or more, {} {} the paper's sign in the mean here. They have "
      "{} each.",
      counted(size_t(compared), "comparison"), agree, agree == 1 ? "has" : "have",
      fewest == most ? counted(most, "seed") : fmt::format("{} to {} seeds", fewest, most))};
  if (tested)
    said.push_back(
        fmt::format("After Holm over all comparisons with three seeds or more, {} differ from zero with the "
                    "paper's sign and {} with the other, by Student's test.",
                    firm_for, firm_against));
  else
    said.push_back("With so few seeds there is no test: a sign may be luck.");
  return said;
}

std::string p_text(double p) { return std::isnan(p) ? "–" : p < 0.001 ? "< 0.001" : fmt::format("{:.3f}", p); }

}  // namespace

Section signs(const Outcomes& outcomes, const Choices&) {
  std::vector<Sign> all = signs_of(outcomes);
  correct(all, &Sign::student, t_test), correct(all, &Sign::flipped, permutation_test);
  Section s;
  s.data = {{"task", "encoding", "paper", "seeds", "mean", "median", "bootstrap_low", "bootstrap_high", "t_low",
             "t_high", "permutation_low", "permutation_high", "t_holm", "permutation_holm"},
            {}};
  Grid grid{"Randomized minus plain in points, at tested lengths beyond the trained ones",
            {"task", "encoding", "paper", "seeds", "mean", "t interval", "p after Holm, t", "p after Holm, signs"},
            {}};
  for (const Sign& one : all) {
    if (one.differences.empty()) continue;
    const std::vector<double>& x = one.differences;
    const Interval b = bootstrap(x), t = t_interval(x), p = permutation_interval(x);
    s.data.rows.push_back({one.task, one.scheme, number(one.paper), int(x.size()), number(poslab::mean(x)),
                           number(median(x)), number(b.low), number(b.high), number(t.low), number(t.high),
                           number(p.low), number(p.high), number(one.student), number(one.flipped)});
    grid.rows.push_back({{one.task},
                         {one.scheme},
                         {signed_points(one.paper)},
                         {fmt::format("{}", x.size())},
                         {signed_points(poslab::mean(x)), "", one.student < 0.05},
                         {interval_text(t, true)},
                         {p_text(one.student)},
                         {p_text(one.flipped)}});
  }
  s.readings = readings(all);
  s.grids = {grid};
  s.notes = {how_many(outcomes), about_intervals(outcomes),
             "Bold: p after Holm over the whole table is below 0.05, by Student's test. Flipped signs need 6 seeds to "
             "come below 0.05 alone, and more after Holm. The .csv has all three intervals."};
  return s;
}

}  // namespace poslab::reproduce::ruoss2023
