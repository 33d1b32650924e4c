#include "lab/pages/report/lines.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>

namespace poslab::report {
namespace {

constexpr size_t max_differences = 24;  // rows of a table that is still readable

double mean_over(const Results& tested, int low, int high) {
  std::vector<double> at;
  for (const Row& row : tested)
    if (row.length() >= low && row.length() <= high) at.push_back(row["accuracy"]);
  return mean(at);
}

std::set<int> lengths_of(const Results& tested) {
  std::set<int> lengths;
  for (const Row& row : tested) lengths.insert(row.length());
  return lengths;
}

Results at_lengths(const Results& tested, const std::set<int>& lengths) {
  Results some;
  for (const Row& row : tested)
    if (lengths.count(row.length())) some.push_back(row);
  return some;
}

std::set<int> common(const std::set<int>& a, const std::set<int>& b) {
  std::set<int> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

Results mean_of(const std::vector<const TestedRun*>& runs, Results TestedRun::*what) {
  std::vector<const Results*> tables;
  for (const TestedRun* run : runs) tables.push_back(&(run->*what));
  return poslab::mean_of(tables);
}

// Whether these can be seeds of one line: no seed twice, and some common tested length.
bool seeds_of_one(const std::vector<const TestedRun*>& runs) {
  std::set<int64_t> seeds;
  for (const TestedRun* run : runs) seeds.insert(run->seed);
  return seeds.size() == runs.size() && !mean_of(runs, &TestedRun::tested).empty();
}

// Lines without a common seed differ in more than the options that their names tell.
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
  std::set<std::string> names;
  for (const Line* line : {&a, &b})
    for (const auto& [name, value] : line->first().setting) names.insert(name);
  const auto value = [](const Line& line, const std::string& name) {
    const auto said = line.first().setting.find(name);
    return said == line.first().setting.end() ? "" : said->second;
  };
  return int(std::count_if(names.begin(), names.end(), [&](auto& name) { return value(a, name) != value(b, name); })) +
         (a.first().other_test != b.first().other_test);
}

}  // namespace

double Line::accuracy(int low, int high) const { return mean_over(tested, low, high); }

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
  for (const TestedRun& run : runs) settings.push_back(run.setting);
  const Naming naming(settings, *runs.front().kind);
  const auto name = [&](const TestedRun& run) {
    const std::string own = naming.name(run.setting);
    return run.other_test.empty() ? own : fmt::format("{} [{}]", own, run.other_test);
  };
  std::vector<Group> groups;
  std::map<std::string, int> colors;
  const auto add = [&](Group& group, std::string called, std::vector<const TestedRun*> members) {
    const int color = colors.emplace(called, int(colors.size())).first->second;
    std::sort(members.begin(), members.end(), [](auto* a, auto* b) { return a->seed < b->seed; });
    group.lines.push_back(
        {std::move(called), color, members, mean_of(members, &TestedRun::tested), mean_of(members, &TestedRun::all)});
  };
  // The content of a text may have changed at its path. A test without its checksum does not separate others.
  std::map<std::string, std::set<std::string>> texts;
  for (const TestedRun& run : runs)
    if (!run.checksum.empty()) texts[run.task].insert(run.checksum);
  const auto task_of = [&](const TestedRun& run) {
    const bool several = texts[run.task].size() > 1 && !run.checksum.empty();
    return several ? fmt::format("{} (checksum {})", run.task, run.checksum) : run.task;
  };
  std::vector<std::string> tasks;
  for (const TestedRun& run : runs)
    if (std::find(tasks.begin(), tasks.end(), task_of(run)) == tasks.end()) tasks.push_back(task_of(run));
  for (const std::string& task : tasks) {
    std::vector<std::vector<const TestedRun*>> alike;
    for (const TestedRun& run : runs) {
      if (task_of(run) != task) continue;
      auto same = std::find_if(alike.begin(), alike.end(), [&](auto& a) {
        return a[0]->setting == run.setting && a[0]->other_test == run.other_test;
      });
      if (same == alike.end()) same = alike.insert(same, std::vector<const TestedRun*>());
      same->push_back(&run);
    }
    Group& group = groups.emplace_back(Group{task, {}});
    for (const std::vector<const TestedRun*>& members : alike)
      if (seeds_of_one(members))
        add(group, name(*members[0]), members);
      else
        for (const TestedRun* run : members) add(group, fmt::format("{}, {}", name(*run), run->place()), {run});
    name_seeds(group.lines);
  }
  return groups;
}

bool same_tokens(const Line& a, const Line& b) {
  const auto tokenizer = [](const Line& line) {
    const auto at = line.first().config.find("merges");
    return std::pair(at == line.first().config.end() ? "" : at->second, line.first().record.files);
  };
  const auto [merges, files] = tokenizer(a);
  const auto [other, others] = tokenizer(b);
  return merges == other && std::all_of(files.begin(), files.end(), [&, &others = others](const auto& file) {
    const auto at = others.find(file.first);
    return !file.first.starts_with("tokenizer") || (at != others.end() && at->second == file.second);
  });
}

bool same_test(const Line& a, const Line& b) {
  const auto value = [](const Line& line, const char* option) {
    const auto at = line.first().config.find(option);
    return at == line.first().config.end() ? "" : at->second;
  };
  const char* const options[] = {"eval_tail", "documents", "separator"};
  return std::all_of(std::begin(options), std::end(options), [&](auto* o) { return value(a, o) == value(b, o); });
}

Difference difference(const Line& a, const Line& b) {
  if (!same_tokens(a, b) || !same_test(a, b)) return {&a, &b, {}};
  std::set<int> lengths = common(lengths_of(a.tested), lengths_of(b.tested));
  const int trained = std::max(a.train_length(), b.train_length());
  lengths.erase(lengths.begin(), lengths.upper_bound(trained));
  const auto scores = [&](const Line& line) {
    BySeed all;
    if (lengths.empty()) return all;
    for (const TestedRun* run : line.runs)
      all[run->seed] = mean_over(at_lengths(run->tested, lengths), 0, *lengths.rbegin());
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
