// The measurements of each artifact in about.json.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/coverage.h"
#include "experiment/evaluate.h"
#include "lab/papers/gap_shift/gap_shift.h"

namespace poslab::reproduce::gap_shift {
namespace {

// A test of a trained model. `about`: its fields in about.json.
struct Test {
  int length;
  std::string positions;
  Json about;
};

// Each setting with its tests, and for each test the accuracy by seed, on the first `strings` strings of range
// evaluation at the test's length. A signal throws Interrupted.
template <class TestsOf>
Json measure(const Outcomes& outcomes, const Choices& defaults, int strings, const TestsOf& tests_of) {
  const std::vector<Setting> settings = gap_shift::settings(outcomes, defaults);
  std::vector<Measuring> all;
  for (const Setting& s : settings) {
    Choices c = on_task(defaults, s.task);
    c.set("positions", s.training.positions);
    Measuring& of = all.emplace_back(c, s.models, std::vector<Measure>());
    for (const Test& t : tests_of(c))
      of.measures.push_back(
          {fmt::format("{} strings of length {}, {}", strings, t.length, t.positions), [=](State state) {
             state.config.set("test_positions", t.positions);
             return accuracy_at(state, t.length, strings);
           }});
  }
  const auto accuracies = measured("gaps.json", all);
  Json made = {{"strings", strings}, {"settings", Json::array()}};
  for (size_t i = 0; i < all.size(); ++i) {
    Json one = {{"task", settings[i].task},
                {"encoding", settings[i].encoding},
                {"trained", settings[i].training.name},
                {"positions", settings[i].training.positions},
                {"tests", Json::array()}};
    for (size_t n = 0; const Test& t : tests_of(all[i].config)) {
      Json test = t.about;
      test["length"] = t.length, test["positions"] = t.positions, test["accuracy"] = by_seed(accuracies[i][n++]);
      one["tests"].push_back(std::move(test));
    }
    made["settings"].push_back(std::move(one));
  }
  return made;
}

// The lengths of grid() and first(), and for each task the mean gap of uniform sampling at each of them, and the
// accuracy of the most frequent symbols.
void add_lengths(Json& made, const Outcomes& outcomes, const Choices& defaults) {
  made["train_length"] = defaults.whole("train_length"), made["pool"] = defaults.whole("max_position");
  made["lengths"] = lengths(defaults);
  for (const std::string& task : outcomes.tasks())
    for (const int length : lengths(defaults)) {
      const Choices c = on_task(defaults, task);
      made["own_gap"][task].push_back(own_gap(c, length));
      made["majority"][task].push_back(majority(c, length));
    }
}

// 1, 2, 4, ... as far as a pool and the longest trained input allow
std::vector<int> gap_columns(const Choices& c) {
  std::vector<int> all;
  for (int gap = 1; gap <= std::max(1, c.whole("max_position") / c.whole("train_length")); gap *= 2) all.push_back(gap);
  return all;
}

// Tests at positions of a given mean gap, one for each column. `inside`: all positions are within the training's pool.
std::vector<Test> spacings(const Choices& c, int length) {
  const int n = slots(c, length), pool = c.whole("max_position");
  std::vector<Test> all;
  const auto add = [&](const std::string& column, const char* kind, const std::string& positions, double gap,
                       bool inside) {
    all.push_back({length, positions, {{"column", column}, {"kind", kind}, {"gap", gap}, {"inside", inside}}});
  };
  for (const int gap : gap_columns(c)) {
    const std::string column = fmt::format("gap {}", gap);
    if (gap > 1) add(column, "random", scattered(gap), gap, gap * (n + 1) - 1 <= pool);
    add(column, "even", fmt::format("stretched:gap={}", gap), gap, gap * (n - 1) < pool);
  }
  add("counted", "even", "contiguous", 1, true);
  add("evenly spread", "even", "evenly_spread", n > 1 ? (pool - 1.) / (n - 1) : 0, true);
  add("as trained", "random", "same", own_gap(c, length), true);
  return all;
}

}  // namespace

Json gaps(const Outcomes&, const Choices& defaults, const std::string&) {
  Json made = {{"train_length", defaults.whole("train_length")},
               {"pool", defaults.whole("max_position")},
               {"lengths", lengths(defaults)},
               {"samplers", Json::array()}};
  for (const char* task : {"reverse_string", "missing_duplicate_string"}) {
    Choices c = on_task(defaults, task);
    c.set("encoding", "sincos");  // which reads a position for each token
    for (const Training& t : trainings(c))
      for (const bool even : {false, true}) {
        c.set("positions", t.positions);
        c.set("test_positions", even ? even_positions(c) : "same");
        const Coverage met = poslab::gaps(RunSpec(c), lengths(c));
        Json one = {{"task", task},
                    {"trained", t.name},
                    {"positions", t.positions},
                    {"test_positions", c["test_positions"]},
                    {"even", even},
                    {"gaps", counts(met.trained)},
                    {"tests", Json::array()}};
        for (const Coverage::Test& test : met.tests)
          one["tests"].push_back(
              {{"length", test.length}, {"gaps", counts(test.met)}, {"overlap", in_common(met.trained, test.met)}});
        made["samplers"].push_back(std::move(one));
      }
  }
  return made;
}

Json grid(const Outcomes& outcomes, const Choices& defaults, const std::string&) {
  Json made = measure(outcomes, defaults, strings(defaults), [&](const Choices& c) {
    std::vector<Test> all;
    for (const int length : lengths(c))
      for (Test& t : spacings(c, length)) all.push_back(std::move(t));
    return all;
  });
  add_lengths(made, outcomes, defaults);
  return made;
}

// With uniform sampling a longer string changes both the gap and the length. Here one of them changes at a time, and
// all positions stay within the pool:
//
//   trained    n slots of N positions
//   squeezed   n slots of N (n + 1) / (n' + 1) positions, a part of the pool: the gap alone
//   trained    from there to n' slots of N positions: the length alone
Json first(const Outcomes& outcomes, const Choices& defaults, const std::string&) {
  const std::vector<int> all = lengths(defaults);
  Json made = measure(outcomes, defaults, strings(defaults), [&](const Choices& c) {
    std::vector<Test> tests;
    for (const int length : all) {
      if (length != all.back() && length > c.whole("train_length")) continue;
      tests.push_back({length, "same", {{"gap", "trained"}}});
      if (length != all.back()) tests.push_back({length, scattered(own_gap(c, all.back())), {{"gap", "squeezed"}}});
      tests.push_back({length, "contiguous", {{"gap", "1"}}});
    }
    return tests;
  });
  add_lengths(made, outcomes, defaults);
  return made;
}

Json matched(const Outcomes& outcomes, const Choices& defaults, const std::string&) {
  const int trained = defaults.whole("train_length");
  const std::vector<int> far = steps_beyond(trained, defaults.lengths("eval_lengths").to, 8);
  Json made = measure(outcomes, defaults, std::max(1, strings(defaults) / 4), [&](const Choices& c) {
    std::vector<Test> tests;
    if (!far.empty()) tests.push_back({trained, "same", {{"rule", "as trained"}}});
    for (const auto& [rule, positions] : {std::pair<const char*, std::string>{"as trained", "same"},
                                          {"equal steps", even_positions(c)},
                                          {"counted", "contiguous"}})
      for (const int length : far) tests.push_back({length, positions, {{"rule", rule}}});
    return tests;
  });
  made["train_length"] = trained, made["lengths"] = far;
  return made;
}

}  // namespace poslab::reproduce::gap_shift
