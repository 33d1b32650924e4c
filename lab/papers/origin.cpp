#include "lab/papers/outcomes.h"

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

// Why this program would train other runs; "" if it would not.
std::string old(const std::vector<RunRecord>& done) {
  Said numbers, now;
  size_t unnamed = 0;
  for (const RunRecord& r : done) {
    add(numbers, r.numerics), add(now, numerics(isa_of(r)));
    unnamed += !r.numerics;
  }
  if (unnamed == done.size()) return "Old: these runs do not record their numerics number. ";
  if (unnamed) return fmt::format("Old: {} of these runs do not record their numerics number. ", unnamed);
  if (numbers == now && numbers.size() == 1) return "";
  return fmt::format("Old: these runs have the numerics {}, and this program has {}. ", fmt::join(numbers, ", "),
                     now.empty() ? "none for their instruction set" : fmt::format("{}", fmt::join(now, ", ")));
}

std::string hours(double seconds) { return fmt::format("{:.1f}", seconds / 3600); }
double core_seconds(const RunRecord& r) { return r.seconds.value_or(0) * double(r.threads.value_or(1)); }

}  // namespace

std::string origin(const std::vector<RunRecord>& done) {
  if (done.empty()) return "";
  Said commits, isas, numbers, processors, days;
  double spent = 0;
  for (const RunRecord& r : done) {
    add(commits, r.commit), add(isas, r.isa), add(numbers, r.numerics), add(processors, r.processor), add(days, r.date);
    spent += core_seconds(r);
  }
  if (commits.empty()) return old(done);
  std::string text = old(done) + fmt::format("Trained by {}", fmt::join(commits, ", "));
  for (const Said* one : {&isas, &processors, &days})
    if (!one->empty()) text += fmt::format("; {}", fmt::join(*one, ", "));
  if (!numbers.empty()) text += fmt::format("; numerics {}", fmt::join(numbers, ", "));
  return text + fmt::format(". Training took {} hours of clock time, summed over threads.", hours(spent));
}

std::string origin(const Outcomes& outcomes) {
  std::vector<RunRecord> done;
  std::map<std::string, std::vector<double>> seconds;  // by task
  for (const Outcome& o : outcomes.done()) {
    done.push_back(o.record);
    if (o.record.seconds) seconds[o.trial->config()["task"]].push_back(core_seconds(o.record));
  }
  double left = 0;
  size_t priced = 0, missing = 0;
  for (const Missing& m : outcomes.missing()) {
    if (m.state == TrialState::impossible) continue;  // which will never be trained
    ++missing;
    if (const auto of_task = seconds.find(m.trial->config()["task"]); of_task != seconds.end())
      left += median(of_task->second), ++priced;
  }
  std::string text = origin(done);
  if (priced)
    text += fmt::format(" {} of the {} trials that are missing take about {} more, by the median of their tasks.",
                        priced, missing, hours(left));
  return text;
}

}  // namespace poslab::reproduce
