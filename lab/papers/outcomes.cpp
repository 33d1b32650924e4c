#include "lab/papers/outcomes.h"

#include <algorithm>

#include "core/error.h"

namespace poslab::reproduce {
namespace {

Outcome outcome(const Trial& t, const SweepFolder& folder) {
  const auto [rows, record] = read_test(folder.run(t), t.run);
  Outcome o{&t, folder.run(t), std::nan(""), at_lengths(rows), record};
  if (o.record.paper_score) o.score = *o.record.paper_score;
  return o;
}

}  // namespace

Outcomes::Outcomes(const Plan& plan, const SweepFolder& folder) : plan_(plan) {
  const Claims claims(folder.path());
  for (const Trial& t : plan) {
    if (std::find(tasks_.begin(), tasks_.end(), t.config()["task"]) == tasks_.end())
      tasks_.push_back(t.config()["task"]);
    const TrialState state = folder.state(t, claims);
    if (state != TrialState::done) {
      missing_.push_back({&t, state, folder.reason(t, state)});
      continue;
    }
    try {
      done_.push_back(outcome(t, folder));
    } catch (const std::exception& e) {  // a removed or damaged file
      missing_.push_back({&t, TrialState::failed, e.what()});
    }
  }
}

bool Outcomes::plans(const Which& which) const {
  const auto fits = [&](const auto& one) { return which(one.trial->config()); };
  return std::any_of(done_.begin(), done_.end(), fits) || std::any_of(missing_.begin(), missing_.end(), fits);
}

std::vector<std::string> Outcomes::tasks() const { return tasks_; }

std::vector<const Outcome*> Outcomes::by_seed(const Which& which) const {
  std::map<double, std::map<int64_t, const Outcome*>> by_lr;
  for (const Outcome& o : done_) {
    const Choices& c = o.trial->config();
    if (!which(c) || std::isnan(o.score)) continue;
    const auto [first, fresh] = by_lr[c.number("lr")].emplace(c.count("seed"), &o);
    if (!fresh)
      failure("two trials of one setting have seed {} and lr {}: {} and a later one", c.count("seed"), c.number("lr"),
              first->second->folder);
  }
  std::vector<const Outcome*> best;
  double highest = std::nan("");
  for (const auto& [lr, runs] : by_lr) {
    std::vector<double> scores;
    for (const auto& [seed, o] : runs) scores.push_back(o->score);
    const double m = poslab::mean(scores);
    if (runs.size() < best.size() || (runs.size() == best.size() && m <= highest)) continue;
    highest = m, best.clear();
    for (const auto& [seed, o] : runs) best.push_back(o);
  }
  return best;
}

double mean_at(const Outcome& o, int from, int to) {
  std::vector<double> some;
  for (const AtLength& at : o.tested)
    if (at.length >= from && at.length <= to) some.push_back(at.accuracy);
  return poslab::mean(some);
}

}  // namespace poslab::reproduce
