// What the two stages decide: which candidate and which opponent meet on a task, and whether the first is above.
#include <algorithm>
#include <cmath>

#include "lab/papers/ladder/ladder.h"

namespace poslab::reproduce::ladder {
namespace {

bool is(const Choices& c, const std::string& task, const Rung& r) {
  return c["task"] == task && c["encoding"] == r.encoding && c["positions"] == r.positions &&
         c["temperature"] == r.temperature;
}

// The mean over the first stage's seeds; NaN until all of them are done.
double first_mean(const Outcomes& outcomes, const std::string& task, const Rung& r, Lengths at) {
  const BySeed done = scores(outcomes, task, r, at, registered().first_seeds);
  return done.size() == registered().first_seeds.size() ? mean(done) : std::nan("");
}

// The one with the highest mean; null where one of them is not done. Of equal ones the first counts.
const Rung* best(const std::vector<Rung>& rungs, const std::function<double(const Rung&)>& score) {
  const Rung* highest = nullptr;
  double most = 0;
  for (const Rung& one : rungs) {
    const double x = score(one);
    if (std::isnan(x)) return nullptr;
    if (!highest || x > most) highest = &one, most = x;
  }
  return highest;
}

}  // namespace

BySeed scores(const Outcomes& outcomes, const std::string& task, const Rung& r, Lengths at,
              const std::vector<int64_t>& seeds) {
  BySeed found;
  for (const Outcome& o : outcomes.done()) {
    const Choices& c = o.trial->config();
    if (!is(c, task, r) || std::find(seeds.begin(), seeds.end(), c.count("seed")) == seeds.end()) continue;
    if (const double x = mean_at(o, at.from, at.to); !std::isnan(x)) found[c.count("seed")] = x;
  }
  return found;
}

Choice choice(const Outcomes& outcomes, const std::string& task) {
  const Registered& r = registered();
  const auto at = [&](Lengths lengths) {
    return [&outcomes, &task, lengths](const Rung& one) { return first_mean(outcomes, task, one, lengths); };
  };
  const Choice c{best(r.candidates, at(r.choose)), best(r.opponents, at(r.judge))};
  return c.candidate && c.opponent ? c : Choice{};
}

const Rung* for_all_tasks(const Outcomes& outcomes) {
  return best(registered().candidates, [&](const Rung& one) {
    double sum = 0;
    for (const std::string& task : fifteen()) sum += first_mean(outcomes, task, one, registered().choose);
    return sum;
  });
}

bool Contest::above() const { return done && mean(ours) > mean(theirs) && holm < registered().level; }

std::vector<Contest> contests(const Outcomes& outcomes, Family family) {
  const Registered& r = registered();
  const Rung* const same = family == Family::one_for_all ? for_all_tasks(outcomes) : nullptr;
  std::vector<Contest> all;
  for (const std::string& task : fifteen()) {
    const Choice chosen = choice(outcomes, task);
    Contest c{task, family == Family::one_for_all ? same : chosen.candidate, chosen.opponent};
    if (!c.candidate) c.opponent = nullptr;
    if (c.candidate) {
      c.ours = scores(outcomes, task, *c.candidate, r.judge, r.second_seeds);
      c.theirs = scores(outcomes, task, *c.opponent, r.judge, r.second_seeds);
    }
    c.done = c.candidate && c.ours.size() == r.second_seeds.size() && c.theirs.size() == r.second_seeds.size();
    if (c.done) c.p = permutation_test(values(difference(c.ours, c.theirs)));
    all.push_back(std::move(c));
  }
  std::vector<double> p;
  for (const Contest& c : all) p.push_back(c.p);
  const std::vector<double> corrected = holm(p);
  for (size_t n = 0; n < all.size(); ++n) all[n].holm = corrected[n];
  return all;
}

}  // namespace poslab::reproduce::ladder
