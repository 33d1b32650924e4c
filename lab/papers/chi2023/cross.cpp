// Does sharper attention add to randomized positions? Every scheme with plain and with randomized positions, crossed
// with seven temperatures. And what a longer string changes, one thing at a time.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "lab/papers/chi2023/chi2023.h"

namespace poslab::reproduce::chi2023 {
namespace {

using gap_shift::average, gap_shift::on_task, gap_shift::scale;

const std::vector<std::string> tasks = {"even_pairs", "missing_duplicate_string", "reverse_string", "bucket_sort"};

// A scheme, as it is and with the scale-invariant factors. ReRoPE's window is half of what training spans.
struct SchemeName {
  std::string name, plain, scaled;
};
std::vector<SchemeName> schemes(const Choices& c, bool randomized) {
  const int window = (randomized ? c.whole("max_position") : c.whole("train_length")) / 2;
  const std::string alibi = randomized ? "alibi" : "alibi/mode=differences";
  return {
      {"sin/cos", "sincos", "sincos&scale_invariant"},
      {"relative", "relative", "scale_invariant:of=relative"},
      {"ALiBi", "alibi", "scale_invariant:of=" + alibi},
      {"RoPE", "rope", "scale_invariant:of=rope"},
      {"T5", "t5", "scale_invariant:of=t5"},
      {"ReRoPE", fmt::format("rerope:window={}", window), fmt::format("scale_invariant:of=rerope/window={}", window)}};
}
const char* positions(bool randomized) { return randomized ? "randomized" : "sequential"; }

std::string log_n(const Choices& c) { return fmt::format("log_n:length={}", c.whole("train_length")); }

struct Policy {
  std::string name, temperature;  // of the trained model
  bool scaled;                    // trained with the scale-invariant factors
  std::string at_test;            // measured of the model without a temperature, or nothing
};
std::vector<Policy> policies(const Choices& c) {
  return {{"none", "none", false, ""},
          {"log n, trained", log_n(c), false, ""},
          {"log rule", "none", false, "log"},
          {"maximum probability", "none", false, "pmax"},
          {"entropy", "none", false, "entropy"},
          {"SSMax, trained", "ssmax", false, ""},
          {"scale-invariant, trained", "none", true, ""}};
}

Which models(const std::string& task, const std::string& encoding, bool randomized, const std::string& temperature) {
  return [=](const Choices& c) {
    return c["task"] == task && c["encoding"] == encoding && c["positions"] == positions(randomized) &&
           c["temperature"] == temperature;
  };
}

struct Question {
  std::string name;
  Moved moved;
};
const std::vector<Question>& questions() {
  static const std::vector<Question> list = {{"positions", Moved::positions},
                                             {"gaps", Moved::gaps},
                                             {"number of keys", Moved::keys},
                                             {"dispersion", Moved::dispersion},
                                             {"the length itself", Moved::length}};
  return list;
}

int64_t models_without(const Outcomes& outcomes, const Choices& c) {
  int64_t n = 0;
  for (const std::string& task : outcomes.tasks())
    for (const bool randomized : {false, true})
      for (const SchemeName& s : schemes(c, randomized))
        n += int64_t(outcomes.summary(models(task, s.plain, randomized, "none")).at_lr.size());
  return n;
}

// Of one scheme, with plain or randomized positions: by policy and by question, over all tasks.
struct Row {
  std::string name;
  bool randomized;
  std::vector<BySeed> score, cost;  // as fractions; cost: of gap_shift's scale. Empty: not done, or cannot be moved
};

class Tables {
 public:
  Tables(const Outcomes& outcomes, const Choices& c, Section& s)
      : outcomes_(outcomes), c_(c), s_(s), measured_("cross.json", models_without(outcomes, c)) {}

  Row row(const SchemeName& scheme, bool randomized) {
    const std::vector<Policy> all = policies(c_);
    std::vector<std::vector<BySeed>> score(all.size()), cost(questions().size());
    for (const std::string& task : outcomes_.tasks()) {
      const Summary plain = outcomes_.summary(models(task, scheme.plain, randomized, "none"));
      const std::vector<BySeed> found = measured_(plain, measures(scheme, randomized));
      size_t next = 0;
      for (size_t n = 0; n < all.size(); ++n) {
        const Policy& p = all[n];
        const std::string& encoding = p.scaled ? scheme.scaled : scheme.plain;
        score[n].push_back(p.at_test.empty()
                               ? outcomes_.summary(models(task, encoding, randomized, p.temperature)).by_seed
                               : found[next++]);
        add_data(task, scheme.name, randomized, p.name, score[n].back());
      }
      const BySeed& home = found[next++];
      const Choices on = on_task(c_, task);
      const auto skill = [&](const BySeed& accuracy, int length) {
        BySeed all;
        for (const auto& [seed, x] : accuracy) all[seed] = scale(on, length)(x);
        return all;
      };
      for (size_t n = 0; n < questions().size(); ++n) {
        const Moved moved = questions()[n].moved;
        if (!can_move(scheme, moved, randomized)) continue;
        const int length = moved == Moved::length ? c_.lengths("eval_lengths").to : c_.whole("train_length");
        cost[n].push_back(difference(skill(home, c_.whole("train_length")), skill(found[next++], length)));
        add_data(task, scheme.name, randomized, "loss: " + questions()[n].name, cost[n].back());
      }
    }
    const auto averages = [](const std::vector<std::vector<BySeed>>& of) {
      std::vector<BySeed> means;
      for (const std::vector<BySeed>& one : of) means.push_back(average(one));
      return means;
    };
    return {scheme.name, randomized, averages(score), averages(cost)};
  }

 private:
  bool can_move(const SchemeName& scheme, Moved moved, bool randomized) const {
    Choices of = c_;
    of.set("encoding", scheme.plain), of.set("positions", positions(randomized));
    return chi2023::can_move(of, moved);
  }
  std::vector<Measure> measures(const SchemeName& scheme, bool randomized) const {
    std::vector<Measure> all;
    for (const Policy& p : policies(c_))
      if (!p.at_test.empty())
        all.push_back({"beyond, " + p.name, [at = p.at_test](State s) { return accuracy_beyond(std::move(s), at); }});
    all.push_back({"as trained", [](State s) { return accuracy_moved(std::move(s), Moved::nothing); }});
    for (const Question& q : questions())
      if (can_move(scheme, q.moved, randomized))
        all.push_back({"moved: " + q.name, [m = q.moved](State s) { return accuracy_moved(std::move(s), m); }});
    return all;
  }
  void add_data(const std::string& task, const std::string& scheme, bool randomized, const std::string& what,
                const BySeed& found) {
    reproduce::add_data(s_, {{}, {task, scheme, positions(randomized), what}}, {}, {{}, by_seed_data(found)});
  }
  const Outcomes& outcomes_;
  const Choices& c_;
  Section& s_;
  Measured measured_;
};

std::string stated(const BySeed& difference) {
  return ahead_text(mean(difference), bootstrap(values(difference)), " points");
}

// What a policy adds, mean over the schemes.
BySeed added(const std::vector<Row>& rows, bool randomized, size_t policy) {
  std::vector<BySeed> all;
  for (const Row& r : rows)
    if (r.randomized == randomized && !r.score[policy].empty() && !r.score[0].empty())
      all.push_back(difference(r.score[policy], r.score[0]));
  return all.empty() ? BySeed() : average(all);
}

std::vector<std::string> readings(const std::vector<Row>& rows, const Choices& c) {
  std::vector<std::string> said;
  const std::vector<Policy> all = policies(c);
  std::vector<std::string> add, cost;
  for (size_t n = 1; n < all.size(); ++n) {
    const BySeed plain = added(rows, false, n), randomized = added(rows, true, n);
    if (plain.empty() || randomized.empty()) continue;
    const Interval i = bootstrap(values(randomized));
    if (i.low > 0 || i.high < 0)
      (i.low > 0 ? add : cost).push_back(fmt::format("{} ({} points)", all[n].name, signed_points(mean(randomized))));
    said.push_back(fmt::format("{}: {} with plain positions, {} with randomized ones, mean over the schemes.",
                               all[n].name, stated(plain), stated(randomized)));
  }
  if (said.empty()) return {"Nothing can be compared yet."};
  const auto named = [](const std::vector<std::string>& names) {
    return names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", "));
  };
  said.insert(said.begin(),
              "Does sharper attention add to randomized positions? " +
                  (add.empty() && cost.empty()
                       ? "Inconclusive: no policy's interval excludes zero in the mean over tasks and schemes."
                       : fmt::format("In the mean over tasks and schemes these add accuracy: {}; and these cost some: "
                                     "{}. Of the others the interval includes zero.",
                                     named(add), named(cost))));
  for (const bool randomized : {false, true}) {
    std::string costs;
    for (size_t n = 0; n < questions().size(); ++n) {
      std::vector<BySeed> of;
      for (const Row& r : rows)
        if (r.randomized == randomized && !r.cost[n].empty()) of.push_back(r.cost[n]);
      if (!of.empty())
        costs += fmt::format("{}{} {}", costs.empty() ? "" : ", ", questions()[n].name, stated(average(of)));
    }
    if (!costs.empty())
      said.push_back(fmt::format("What moves accuracy at the trained length, {} positions, points lost: {}.",
                                 randomized ? "randomized" : "plain", costs));
  }
  return said;
}

}  // namespace

Trials of_cross(const Choices& c) {
  const auto lists = [&](bool randomized, bool scaled) {
    std::vector<std::string> names, temperatures = {"none"};
    for (const SchemeName& s : schemes(c, randomized)) names.push_back(scaled ? s.scaled : s.plain);
    if (!scaled) temperatures.insert(temperatures.end(), {log_n(c), "ssmax"});
    return ValueLists{
        {"task", tasks}, {"encoding", names}, {"positions", {positions(randomized)}}, {"temperature", temperatures}};
  };
  return {lists(false, false), {lists(true, false), lists(false, true), lists(true, true)}};
}

Section cross(const Outcomes& outcomes, const Choices& defaults) {
  Section s;
  s.data = by_seed_table({"task", "encoding", "positions", "what"}, "value", false);
  Tables tables(outcomes, defaults, s);
  std::vector<Row> rows;
  for (const bool randomized : {false, true})
    for (const SchemeName& scheme : schemes(defaults, randomized)) rows.push_back(tables.row(scheme, randomized));
  const std::vector<Line> named = lines(
      rows, [](const Row& r) { return Line{{fmt::format("{}, {}", r.name, r.randomized ? "randomized" : "plain")}}; });
  const auto without_data = [](Value v) { return Value{v.cell}; };  // the .csv has each task by itself
  add(s, {"Accuracy in % beyond the trained lengths, mean over the tasks; below, how far ahead of no temperature",
          "encoding, positions", named, lines(policies(defaults), [](const Policy& p) { return Line{{p.name}}; }),
          [&](size_t row, size_t n) {
            const std::vector<BySeed>& score = rows[row].score;
            return without_data(accuracy(score[n], n == 0 ? nullptr : &score[0]));
          }});
  add(s, {fmt::format("Points lost on strings of length {} when one thing is as at length {}",
                      defaults.whole("train_length"), defaults.lengths("eval_lengths").to),
          "encoding, positions", named, lines(questions(), [](const Question& q) { return Line{{q.name}}; }),
          [&](size_t row, size_t n) { return without_data(in_points(rows[row].cost[n])); }});
  s.readings = readings(rows, defaults);
  s.notes = {
      how_many(outcomes),
      "Trained: the model learned with it. The others act at test alone, on the model without a temperature: the log "
      "rule is tau = ln n0 / ln n beyond the n0 slots of the longest trained strings; maximum probability and entropy "
      "are aligned with these strings by the source's algorithm 1, a temperature for each of a few lengths, in between "
      "by the logarithm of the number of keys.",
      "Scale-invariant attention has no temperature of a query but factors of the distance (Anson et al. 2025), so it "
      "is a part of the encoding here. With randomized positions distances do not grow with the length, and neither "
      "do its factors.",
      "Points lost: 0 is the accuracy of the most frequent symbol of each slot, 100 is all right. Positions: counted "
      "ones with one jump in the middle, so that they end where those of the longest strings do. Gaps: random "
      "positions with the mean gap of the longest strings. Number of keys: so many more keys of logit 0 that each "
      "query sees, whose values are 0. Dispersion: a temperature above 1, at which the mean maximum probability is "
      "that of the "
      "longest strings. They are measured one by one, so they need not add up to the last column.",
      about_intervals(outcomes) + " Bold: the interval excludes zero. Means over tasks are taken for each seed.",
      "Nearest to this: ASEntmax (Vasylenko, Treviso and Martins 2025, arXiv 2506.16640), scale-invariant attention "
      "(Anson et al. 2025, arXiv 2505.17083) and Randomized YaRN (Mehta, Yin and Durrett 2026, arXiv 2606.23687), "
      "which trains with random ranges of positions."};
  return s;
}

}  // namespace poslab::reproduce::chi2023
