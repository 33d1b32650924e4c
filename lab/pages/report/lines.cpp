#include "lab/pages/report/lines.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace poslab::report {
namespace {

constexpr size_t max_differences = 24;  // rows of a table that is still read

double mean_over(const std::vector<AtLength>& tested, int low, int high) {
  std::vector<double> at;
  for (const AtLength& row : tested)
    if (row.length >= low && row.length <= high) at.push_back(row.accuracy);
  return mean(at);
}

std::set<int> lengths_of(const std::vector<AtLength>& tested) {
  std::set<int> lengths;
  for (const AtLength& row : tested) lengths.insert(row.length);
  return lengths;
}

std::vector<AtLength> at_lengths(const std::vector<AtLength>& tested, const std::set<int>& lengths) {
  std::vector<AtLength> some;
  for (const AtLength& row : tested)
    if (lengths.count(row.length)) some.push_back(row);
  return some;
}

std::set<int> common(const std::set<int>& a, const std::set<int>& b) {
  std::set<int> both;
  std::set_intersection(a.begin(), a.end(), b.begin(), b.end(), std::inserter(both, both.end()));
  return both;
}

std::vector<AtLength> mean_of(const std::vector<const Run*>& runs) {
  std::set<int> lengths = lengths_of(runs[0]->tested);
  for (const Run* run : runs) lengths = common(lengths, lengths_of(run->tested));
  std::vector<AtLength> sum = at_lengths(runs[0]->tested, lengths);
  const double n = double(runs.size());
  for (size_t i = 0; i < sum.size(); ++i) {
    AtLength& s = sum[i];
    s.accuracy /= n, s.baselines.chance /= n, s.baselines.majority /= n, s.baselines.content_only /= n;
  }
  for (const Run* run : runs) {
    if (run == runs[0]) continue;
    const std::vector<AtLength> more = at_lengths(run->tested, lengths);
    for (size_t i = 0; i < sum.size(); ++i) {
      AtLength& s = sum[i];
      s.samples = std::min(s.samples, more[i].samples);
      s.accuracy += more[i].accuracy / n, s.baselines.chance += more[i].baselines.chance / n;
      s.baselines.majority += more[i].baselines.majority / n;
      s.baselines.content_only += more[i].baselines.content_only / n;
    }
  }
  return sum;
}

// The same of all windows of language models.
std::vector<language::AtLength> mean_of_windows(const std::vector<const Run*>& runs) {
  std::vector<language::AtLength> sum;
  for (const language::AtLength& first : runs[0]->windows) {
    language::AtLength s{.length = first.length, .repeated = first.repeated, .samples = first.samples};
    size_t found = 0;
    for (const Run* run : runs)
      for (const language::AtLength& at : run->windows) {
        if (at.length != s.length || at.repeated != s.repeated) continue;
        const double n = double(runs.size());
        ++found, s.samples = std::min(s.samples, at.samples);
        s.loss += at.loss / n, s.accuracy += at.accuracy / n, s.bits_per_byte += at.bits_per_byte / n;
        for (int p = 0; p < language::parts; ++p) {
          s.loss_of_part[p] += at.loss_of_part[p] / n;
          s.accuracy_of_part[p] += at.accuracy_of_part[p] / n;
        }
        break;
      }
    if (found == runs.size()) sum.push_back(s);
  }
  return sum;
}

// Whether these can be seeds of one line: each seed once, and some length that all were tested at.
bool seeds_of_one(const std::vector<const Run*>& runs) {
  std::set<int64_t> seeds;
  for (const Run* run : runs) seeds.insert(run->seed);
  return seeds.size() == runs.size() && !mean_of(runs).empty();
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
  for (const Run* run : runs) all.push_back(run->seed);
  if (all.size() == 1) return fmt::format("seed {}", all[0]);
  if (all.back() - all.front() + 1 == int64_t(all.size())) return fmt::format("seeds {} to {}", all[0], all.back());
  return fmt::format("seeds {}", fmt::join(all, ", "));
}

bool Group::has_seeds() const {
  return std::any_of(lines.begin(), lines.end(), [](const Line& line) { return line.runs.size() > 1; });
}

std::vector<Group> by_task(const std::vector<Run>& runs) {
  std::vector<Values> settings;
  for (const Run& run : runs) settings.push_back(run.setting);
  const Naming naming(settings, *runs.front().kind);
  const auto name = [&](const Run& run) {
    const std::string own = naming.name(run.setting);
    return run.other_test.empty() ? own : fmt::format("{} [{}]", own, run.other_test);
  };
  std::vector<Group> groups;
  std::map<std::string, int> colors;
  const auto add = [&](Group& group, std::string called, std::vector<const Run*> members) {
    const int color = colors.emplace(called, int(colors.size())).first->second;
    std::sort(members.begin(), members.end(), [](auto* a, auto* b) { return a->seed < b->seed; });
    group.lines.push_back({std::move(called), color, members, mean_of(members), mean_of_windows(members)});
  };
  std::vector<std::string> tasks;
  for (const Run& run : runs)
    if (std::find(tasks.begin(), tasks.end(), run.task) == tasks.end()) tasks.push_back(run.task);
  for (const std::string& task : tasks) {
    std::vector<std::vector<const Run*>> alike;
    for (const Run& run : runs) {
      if (run.task != task) continue;
      auto same = std::find_if(alike.begin(), alike.end(), [&](auto& a) {
        return a[0]->setting == run.setting && a[0]->other_test == run.other_test;
      });
      if (same == alike.end()) same = alike.insert(same, std::vector<const Run*>());
      same->push_back(&run);
    }
    Group& group = groups.emplace_back(Group{task, {}});
    for (const std::vector<const Run*>& members : alike)
      if (seeds_of_one(members))
        add(group, name(*members[0]), members);
      else
        for (const Run* run : members) add(group, fmt::format("{}, {}", name(*run), run->place()), {run});
  }
  return groups;
}

Difference difference(const Line& a, const Line& b) {
  std::set<int> lengths = common(lengths_of(a.tested), lengths_of(b.tested));
  const int trained = std::max(a.train_length(), b.train_length());
  lengths.erase(lengths.begin(), lengths.upper_bound(trained));
  const auto scores = [&](const Line& line) {
    BySeed all;
    if (lengths.empty()) return all;
    for (const Run* run : line.runs)
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
  for (size_t i = 0; i < g.lines.size(); ++i)
    for (size_t j = i + 1; j < g.lines.size(); ++j)
      if (options_apart(g.lines[i], g.lines[j]) == 1) add(g.lines[i], g.lines[j]);
  if (all.empty() || all.size() > max_differences) {
    all.clear();
    const auto score = [](const Line& line) { return std::isnan(line.unseen()) ? -1 : line.unseen(); };
    const auto best = std::max_element(g.lines.begin(), g.lines.end(),
                                       [&](const Line& a, const Line& b) { return score(a) < score(b); });
    for (const Line& line : g.lines)
      if (&line != &*best) add(*best, line);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Difference& a, const Difference& b) { return a.paired.mean > b.paired.mean; });
  return all;
}

}  // namespace poslab::report
