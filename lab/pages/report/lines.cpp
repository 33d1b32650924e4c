#include "lab/pages/report/lines.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace poslab::report {
namespace {

constexpr size_t max_differences = 24;  // rows of a table that is still readable

// The mean accuracy at the wanted lengths; NaN if there are none.
template <class Wanted>
double mean_over(const Results& tested, const Wanted& wanted) {
  std::vector<double> at;
  for (const Row& row : tested)
    if (wanted(row.length())) at.push_back(row["accuracy"]);
  return mean(at);
}

std::set<int> lengths_of(const Results& tested) {
  std::set<int> lengths;
  for (const Row& row : tested) lengths.insert(row.length());
  return lengths;
}

Results mean_of(const std::vector<const TestedRun*>& runs, Results TestedRun::*what) {
  std::vector<const Results*> tables;
  for (const TestedRun* run : runs) tables.push_back(&(run->*what));
  return poslab::mean_of(tables);
}

// Whether these runs can be seeds of one line: no seed twice, and some common tested length.
bool seeds_of_one(const std::vector<const TestedRun*>& runs) {
  std::set<int64_t> seeds;
  for (const TestedRun* run : runs) seeds.insert(run->seed);
  return seeds.size() == runs.size() && !mean_of(runs, &TestedRun::tested).empty();
}

// Adds seeds to the names of lines without a common seed, which differ in more than the options in their names.
void name_seeds(std::vector<Line>& lines) {
  const auto apart = [](const Line& a, const Line& b) {
    return std::none_of(a.runs.begin(), a.runs.end(), [&](auto* one) {
      return std::any_of(b.runs.begin(), b.runs.end(), [&](auto* other) { return one->seed == other->seed; });
    });
  };
  const bool any = std::any_of(lines.begin(), lines.end(), [&](auto& a) {
    return std::any_of(lines.begin(), lines.end(), [&](auto& b) { return apart(a, b); });
  });
  for (Line& line : lines)
    if (any) line.name += ", " + line.seeds();
}

int options_apart(const Line& a, const Line& b) {
  Values first = a.first().setting, second = b.first().setting, all = first;
  all.insert(second.begin(), second.end());
  int apart = a.first().other_test != b.first().other_test;
  for (const auto& [name, value] : all) apart += first[name] != second[name];
  return apart;
}

}  // namespace

double Line::accuracy(int low, int high) const {
  return mean_over(tested, [&](int length) { return low <= length && length <= high; });
}

std::string Line::seeds() const {
  std::vector<int64_t> all;
  for (const TestedRun* run : runs) all.push_back(run->seed);
  if (all.size() == 1) return fmt::format("seed {}", all[0]);
  if (all.back() - all.front() + 1 == int64_t(all.size())) return fmt::format("seeds {} to {}", all[0], all.back());
  return fmt::format("seeds {}", fmt::join(all, ", "));
}

bool Group::has_seeds() const {
  return std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.runs.size() > 1; });
}

bool lengths_differ(const Group& g) {
  return std::any_of(g.lines.begin(), g.lines.end(),
                     [&](const Line& line) { return line.longest() != g.lines[0].longest(); });
}

std::vector<Group> by_task(const std::vector<TestedRun>& runs) {
  std::vector<Values> settings;
  // The content of a text may have changed at its path. A test without its checksum does not separate others.
  std::map<std::string, std::set<std::string>> texts;
  for (const TestedRun& run : runs) {
    settings.push_back(run.setting);
    if (!run.checksum.empty()) texts[run.task].insert(run.checksum);
  }
  std::vector<std::pair<std::string, std::vector<const TestedRun*>>>
      all;  // runs of a task that differ only in the seed
  for (const TestedRun& run : runs) {
    const bool several = texts[run.task].size() > 1 && !run.checksum.empty();
    const std::string task = several ? fmt::format("{} (checksum {})", run.task, run.checksum) : run.task;
    const auto same = std::find_if(all.begin(), all.end(), [&](const auto& one) {
      const TestedRun& first = *one.second[0];
      return one.first == task && first.setting == run.setting && first.other_test == run.other_test;
    });
    if (same == all.end())
      all.push_back({task, {&run}});
    else
      same->second.push_back(&run);
  }
  std::vector<Group> groups;
  const auto add = [&](const std::string& task, const std::string& name, std::vector<const TestedRun*> members) {
    std::ranges::sort(members, {}, &TestedRun::seed);
    auto group = std::ranges::find(groups, task, &Group::task);
    if (group == groups.end()) group = groups.insert(group, {task, {}});
    group->lines.push_back({name, 0, members, mean_of(members, &TestedRun::tested), mean_of(members, &TestedRun::all)});
  };
  const Naming naming(settings, *runs.front().kind);
  for (const auto& [task, alike] : all) {
    std::string name = naming.name(alike[0]->setting);
    if (!alike[0]->other_test.empty()) name += fmt::format(" [{}]", alike[0]->other_test);
    if (seeds_of_one(alike))
      add(task, name, alike);
    else
      for (const TestedRun* run : alike) add(task, fmt::format("{}, {}", name, run->place()), {run});
  }
  std::map<std::string, int> colors;
  for (Group& group : groups) {
    for (Line& line : group.lines) line.color = colors.emplace(line.name, int(colors.size())).first->second;
    name_seeds(group.lines);
  }
  return groups;
}

bool same_tokens(const Line& a, const Line& b) {
  const Values &files = a.first().record.files, &others = b.first().record.files;
  return a.first().option("merges") == b.first().option("merges") &&
         std::all_of(files.begin(), files.end(), [&](const auto& file) {
           const auto at = others.find(file.first);
           return !file.first.starts_with("tokenizer") || (at != others.end() && at->second == file.second);
         });
}

bool same_test(const Line& a, const Line& b) {
  const char* const options[] = {"eval_tail", "documents", "separator"};
  return std::ranges::all_of(options, [&](auto* o) { return a.first().option(o) == b.first().option(o); });
}

Difference difference(const Line& a, const Line& b) {
  if (!same_tokens(a, b) || !same_test(a, b)) return {&a, &b, {}};
  std::set<int> lengths = lengths_of(a.tested);
  const std::set<int> others = lengths_of(b.tested);
  std::erase_if(lengths, [&](int length) {
    return !others.count(length) || length <= std::max(a.train_length(), b.train_length());
  });
  const auto scores = [&](const Line& line) {
    BySeed all;
    if (lengths.empty()) return all;
    for (const TestedRun* run : line.runs)
      all[run->seed] = mean_over(run->tested, [&](int length) { return lengths.count(length); });
    return all;
  };
  const BySeed of_a = scores(a), of_b = scores(b);
  const Paired forth = paired(of_a, of_b);
  if (forth.mean < 0) return {&b, &a, paired(of_b, of_a)};
  return {&a, &b, forth};
}

std::vector<Difference> differences(const Group& g) {
  std::vector<Difference> all;
  const auto add = [&](const Line& a, const Line& b) {
    if (const Difference d = difference(a, b); d.comparable()) all.push_back(d);
  };
  const auto add_pairs = [&](size_t firsts, const auto& wanted) {
    all.clear();
    for (size_t i = 0; i < firsts; ++i)
      for (size_t j = i + 1; j < g.lines.size(); ++j)
        if (wanted(g.lines[i], g.lines[j])) add(g.lines[i], g.lines[j]);
  };
  const auto any = [](const Line&, const Line&) { return true; };
  add_pairs(g.lines.size(), [](const Line& a, const Line& b) { return options_apart(a, b) == 1; });
  if (all.empty()) add_pairs(g.lines.size(), any);
  if (all.size() > max_differences) add_pairs(1, any);
  std::stable_sort(all.begin(), all.end(),
                   [](const Difference& a, const Difference& b) { return a.paired.mean > b.paired.mean; });
  return all;
}

}  // namespace poslab::report
