#include "lab/papers/origin.h"

#include <fmt/ranges.h>

#include <set>

#include "experiment/numerics.h"

namespace poslab::reproduce {
namespace {

using Said = std::set<std::string>;

void add(Said& all, const std::optional<std::string>& one) {
  if (one && !one->empty()) all.insert(*one);
}

// "cpu/avx512" is avx512.
std::string isa_of(const RunRecord& r) { return r.isa.value_or("").substr(r.isa.value_or("").find('/') + 1); }

// Why the runs are not what this program would train; "" if they are.
std::string old(const Outcomes& outcomes) {
  Said numbers, now;
  size_t unnamed = 0;
  for (const Outcome& o : outcomes.done()) {
    add(numbers, o.record.numerics), add(now, numerics(isa_of(o.record)));
    unnamed += !o.record.numerics;
  }
  if (unnamed == outcomes.done().size()) return "Old: these runs do not say their numerics number. ";
  if (unnamed) return fmt::format("Old: {} of these runs do not say their numerics number. ", unnamed);
  if (numbers == now && numbers.size() == 1) return "";
  return fmt::format("Old: these runs have the numerics {}, and this program has {}. ", fmt::join(numbers, ", "),
                     now.empty() ? "none for their instruction set" : fmt::format("{}", fmt::join(now, ", ")));
}

std::string hours(double seconds) { return fmt::format("{:.1f}", seconds / 3600); }

}  // namespace

std::string origin(const Outcomes& outcomes) {
  if (outcomes.done().empty()) return "";
  Said commits, isas, numbers, processors, days;
  std::map<std::string, std::vector<double>> seconds;  // by task
  double spent = 0, left = 0;
  for (const Outcome& o : outcomes.done()) {
    const RunRecord& r = o.record;
    add(commits, r.commit), add(isas, r.isa), add(numbers, r.numerics), add(processors, r.processor), add(days, r.date);
    if (!r.seconds) continue;
    const double each = *r.seconds * double(r.threads.value_or(1));
    seconds[o.trial->config()["task"]].push_back(each), spent += each;
  }
  size_t priced = 0;
  for (const Missing& m : outcomes.missing())
    if (const auto of_task = seconds.find(m.trial->config()["task"]); of_task != seconds.end())
      left += median(of_task->second), ++priced;
  std::string text = old(outcomes) + fmt::format("Trained by {}", fmt::join(commits, ", "));
  for (const Said* one : {&isas, &processors, &days})
    if (!one->empty()) text += fmt::format("; {}", fmt::join(*one, ", "));
  if (!numbers.empty()) text += fmt::format("; numerics {}", fmt::join(numbers, ", "));
  text += fmt::format(". Training took {} hours of clock time, summed over threads.", hours(spent));
  if (priced)
    text += fmt::format(" {} of the {} trials that are missing take about {} more, by the median of their tasks.",
                        priced, outcomes.missing().size(), hours(left));
  return text;
}

}  // namespace poslab::reproduce
