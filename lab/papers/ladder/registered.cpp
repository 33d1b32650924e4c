// From results/ladder/ladder.toml to values, and the trials that follow from them.
#include <numeric>
#include <string_view>

#include "core/choices.h"
#include "lab/papers/ladder/ladder.h"
#include "lab/runs/toml.h"

namespace poslab {
extern const std::string_view ladder_toml;
}

namespace poslab::reproduce::ladder {
namespace {

template <class T>
T get(const toml::table& t, const char* key) {
  const auto value = t[key].value<T>();
  if (!value) failure("ladder.toml: {} is missing or of another type, near line {}", key, t.source().begin.line);
  return *value;
}

// "41:100"
Lengths lengths(const toml::table& t, const char* key) {
  const std::string text = get<std::string>(t, key);
  const size_t colon = text.find(':');
  return {std::stoi(text.substr(0, colon)), std::stoi(text.substr(colon + 1))};
}

// [100, 109]: the first and the last.
std::vector<int64_t> all_seeds(const toml::table& t, const char* key) {
  const toml::array* ends = t[key].as_array();
  if (!ends || ends->size() != 2) failure("ladder.toml: {} is not the first and the last seed", key);
  const int64_t first = ends->get(0)->value<int64_t>().value(), last = ends->get(1)->value<int64_t>().value();
  std::vector<int64_t> seeds(size_t(last - first + 1));
  std::iota(seeds.begin(), seeds.end(), first);
  return seeds;
}

template <class Read>
void for_each(const toml::table& t, const char* key, const Read& read) {
  for (const toml::node& one : *t[key].as_array()) read(*one.as_table());
}

std::vector<Rung> rungs(const toml::table& all, const char* key) {
  std::vector<Rung> list;
  for_each(all, key, [&](const toml::table& t) {
    list.push_back({get<std::string>(t, "name"), get<std::string>(t, "encoding"),
                    t["positions"].value_or(std::string("sequential")), t["temperature"].value_or(std::string("none")),
                    t["structure"].value_or(std::string())});
  });
  return list;
}

Registered read() {
  const toml::table t = parse_toml(std::string(ladder_toml), "ladder.toml");
  Registered r{.steps = int(get<int64_t>(t, "steps")),
               .train_length = int(get<int64_t>(t, "train_length")),
               .goal = int(get<int64_t>(t, "goal")),
               .level = get<double>(t, "level"),
               .choose = lengths(t, "choose"),
               .judge = lengths(t, "judge"),
               .first_seeds = all_seeds(t, "first_seeds"),
               .second_seeds = all_seeds(t, "second_seeds"),
               .candidates = rungs(t, "candidate"),
               .opponents = rungs(t, "opponent"),
               .predictions = {}};
  for_each(t, "prediction", [&](const toml::table& p) {
    r.predictions.push_back({get<std::string>(p, "task"), get<double>(p, "above"), get<double>(p, "accuracy") / 100,
                             get<std::string>(p, "why")});
  });
  return r;
}

std::vector<std::string> words(const std::vector<int64_t>& numbers) {
  std::vector<std::string> all;
  for (const int64_t n : numbers) all.push_back(fmt::format("{}", n));
  return all;
}

ValueLists trials(const Rung& r, const std::vector<std::string>& tasks, const std::vector<int64_t>& seeds) {
  return {{"task", tasks},
          {"seed", words(seeds)},
          {"encoding", {r.encoding}},
          {"positions", {r.positions}},
          {"temperature", {r.temperature}}};
}

}  // namespace

const Registered& registered() {
  static const Registered all = read();
  return all;
}

Trials first_stage(const Choices& c) {
  const Registered& r = registered();
  if (c.whole("train_length") != r.train_length || c.lengths("eval_lengths").to < r.judge.to)
    bad_input(
        "the ladder is registered for runs that are trained to length {} and tested to {}; leave train_length and "
        "eval_lengths as they are at --size tiny",
        r.train_length, r.judge.to);
  Trials all;
  for (const auto* rungs : {&r.candidates, &r.opponents})
    for (const Rung& one : *rungs) {
      const ValueLists lists = trials(one, fifteen(), r.first_seeds);
      if (all.lists.empty())
        all.lists = lists;
      else
        all.also.push_back(lists);
    }
  return all;
}

std::vector<ValueLists> second_stage(const Outcomes& first, const Choices&) {
  std::vector<ValueLists> all;
  for (const Family family : {Family::own_candidate, Family::one_for_all})
    for (const Contest& c : contests(first, family))
      for (const Rung* rung : {c.candidate, c.opponent})
        if (rung) all.push_back(trials(*rung, {c.task}, registered().second_seeds));
  return all;
}

}  // namespace poslab::reproduce::ladder
