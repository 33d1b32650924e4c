#include "lab/papers/ladder/ladder.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>

#include "core/choices.h"
#include "lab/runs/toml.h"

namespace poslab {
extern const std::string_view ladder_toml;
}

namespace poslab::reproduce::ladder {
namespace {

const toml::table& registered() {
  static const toml::table all = parse_toml(std::string(ladder_toml), "ladder.toml");
  return all;
}

// [100, 109]: the first and the last seed.
std::vector<int64_t> seeds(const char* stage) {
  const toml::array& ends = *registered()[stage].as_array();
  const int64_t first = ends.at(0).value<int64_t>().value(), last = ends.at(1).value<int64_t>().value();
  std::vector<int64_t> all(size_t(last - first + 1));
  std::iota(all.begin(), all.end(), first);
  return all;
}

Lengths lengths(const char* key) {  // "41:100"
  const std::vector<std::string> ends = split(registered()[key].value<std::string>().value(), ':');
  return {std::stoi(ends.at(0)), std::stoi(ends.at(1))};
}

struct Rung {
  std::string name, encoding, positions, temperature;
  bool is(const Choices& c) const {
    return c["encoding"] == encoding && c["positions"] == positions && c["temperature"] == temperature;
  }
};
std::vector<Rung> rungs(const char* kind) {
  std::vector<Rung> all;
  for (const toml::node& one : *registered()[kind].as_array()) {
    const toml::table& t = *one.as_table();
    all.push_back({t["name"].value<std::string>().value(), t["encoding"].value<std::string>().value(),
                   t["positions"].value_or<std::string>("sequential"), t["temperature"].value_or<std::string>("none")});
  }
  return all;
}

ValueLists trials(const Rung& r, const std::vector<std::string>& tasks, const char* stage) {
  std::vector<std::string> all;
  for (const int64_t seed : seeds(stage)) all.push_back(fmt::format("{}", seed));
  return {{"task", tasks},
          {"seed", all},
          {"encoding", {r.encoding}},
          {"positions", {r.positions}},
          {"temperature", {r.temperature}}};
}

// For each rung, its mean accuracy on a task over the first stage's seeds; NaN until all of them are done.
std::vector<double> means(const Outcomes& outcomes, const std::string& task, const std::vector<Rung>& rungs,
                          const char* key) {
  const std::vector<int64_t> first = seeds("first_seeds");
  const Lengths at = lengths(key);
  std::vector<double> all;
  for (const Rung& r : rungs) {
    std::vector<double> by_seed;
    for (const Outcome& o : outcomes.done())
      if (const Choices& c = o.trial->config();
          c["task"] == task && r.is(c) && std::count(first.begin(), first.end(), c.count("seed")))
        by_seed.push_back(mean_at(o, at.from, at.to));
    all.push_back(by_seed.size() == first.size() ? mean(by_seed) : std::nan(""));
  }
  return all;
}

// The rung with the highest mean, the first of equal ones; null if one of them has no mean.
const Rung* best(const std::vector<Rung>& rungs, const std::vector<double>& means) {
  for (const double x : means)
    if (std::isnan(x)) return nullptr;
  return &rungs[size_t(std::max_element(means.begin(), means.end()) - means.begin())];
}

struct Pair {
  std::string task;
  Rung candidate, opponent;
};
struct Chosen {
  std::vector<Pair> own, same;  // each task's candidate, and one for all tasks
};

Chosen chosen(const Outcomes& outcomes) {
  const std::vector<Rung> candidates = rungs("candidate"), opponents = rungs("opponent");
  std::vector<double> sums(candidates.size());
  Chosen all;
  for (const std::string& task : fifteen()) {
    const std::vector<double> ours = means(outcomes, task, candidates, "choose"),
                              theirs = means(outcomes, task, opponents, "judge");
    for (size_t n = 0; n < sums.size(); ++n) sums[n] += ours[n];
    if (best(candidates, ours) && best(opponents, theirs))
      all.own.push_back({task, *best(candidates, ours), *best(opponents, theirs)});
  }
  if (const Rung* same = best(candidates, sums))
    for (const Pair& p : all.own) all.same.push_back({p.task, *same, p.opponent});
  return all;
}

}  // namespace

Trials first_stage(const Choices& c) {
  const int train_length = registered()["train_length"].value<int>().value();
  if (c.whole("train_length") != train_length || c.lengths("eval_lengths").to < lengths("judge").to)
    bad_input(
        "the ladder is registered for runs that are trained to length {} and tested to {}; leave train_length and "
        "eval_lengths as they are at --size tiny",
        train_length, lengths("judge").to);
  std::vector<ValueLists> all;
  for (const char* kind : {"candidate", "opponent"})
    for (const Rung& r : rungs(kind)) all.push_back(trials(r, fifteen(), "first_seeds"));
  return {all.front(), {all.begin() + 1, all.end()}};
}

std::vector<ValueLists> second_stage(const Outcomes& first, const Choices&) {
  const Chosen all = chosen(first);
  std::vector<ValueLists> lists;
  for (const auto* pairs : {&all.own, &all.same})
    for (const Pair& p : *pairs)
      for (const Rung* r : {&p.candidate, &p.opponent}) lists.push_back(trials(*r, {p.task}, "second_seeds"));
  return lists;
}

Json about(const Outcomes& outcomes) {
  std::ostringstream text;
  text << toml::json_formatter(registered());
  const Chosen all = chosen(outcomes);
  Json said = {{"registered", parse_json(text.str(), "ladder.toml")}};
  for (const auto& [family, pairs] : {std::pair{"own", &all.own}, {"same", &all.same}}) {
    said["chosen"][family] = Json::object();
    for (const Pair& p : *pairs) said["chosen"][family][p.task] = {p.candidate.name, p.opponent.name};
  }
  return said;
}

}  // namespace poslab::reproduce::ladder
