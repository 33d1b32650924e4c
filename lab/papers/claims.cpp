#include "lab/papers/claims.h"

#include <fmt/format.h>

#include "lab/files/shell.h"

namespace poslab::reproduce {

Beside operator-(const Beside& a, const Beside& b) { return {difference(a.ours, b.ours), a.source - b.source}; }
Beside operator*(double x, Beside v) {
  for (auto& [seed, one] : v.ours) one *= x;
  return {v.ours, x * v.source};
}

std::string verdict(const BySeed& difference, double within) {
  const Interval i = bootstrap(values(difference));
  const bool in = within > 0 ? i.low > -within && i.high < within : i.low > 0,
             out = within > 0 ? i.low > within || i.high < -within : i.high < 0;
  return in ? "holds" : out ? "does not" : "inconclusive";
}

Value Verdicts::cell(const Beside& v, double within, bool in_nats) {
  if (v.ours.empty()) return {{"–"}};
  const Interval i = bootstrap(values(v.ours));
  const auto written = [&](double x) { return in_nats ? fmt::format("{:+.3f}", x) : signed_points(x); };
  std::string below = written(mean(v.ours)) + (in_nats ? " nats" : "");
  if (!std::isnan(i.low)) below += fmt::format(" [{}, {}]", written(i.low), written(i.high));
  if (!std::isnan(v.source)) below += "\nsource " + written(v.source);
  const std::string answer = verdict(v.ours, within);
  ++count_[answer];
  Value one{{answer, below, answer == "holds"}, by_seed_data(v.ours)};
  one.data.insert(one.data.end(), {within, number(v.source), answer});
  return one;
}

std::string Verdicts::reading() const {
  const auto count = [&](const char* answer) { return count_.count(answer) ? count_.at(answer) : 0; };
  const int holds = count("holds"), not_so = count("does not"), open = count("inconclusive");
  if (!(holds + not_so + open)) return "No comparison can be made of the runs that are done.";
  return fmt::format("Of {} {} hold{}, {} do{} not, and {} {} inconclusive.",
                     counted(size_t(holds + not_so + open), "comparison"), holds, holds == 1 ? "s" : "", not_so,
                     not_so == 1 ? "es" : "", open, open == 1 ? "is" : "are");
}

std::string Verdicts::note() const {
  return "A claim holds if the whole interval of its difference over the seeds is above zero (or, of those that hardly "
         "matter, within 2 points), does not if the whole interval is on the other side, and is inconclusive "
         "otherwise.";
}

}  // namespace poslab::reproduce
