// Does sharper attention add to randomized positions? Every scheme with plain and with randomized positions is crossed
// with seven temperatures. The effects of a longer string are also measured, one at a time.
#include <fmt/format.h>

#include <algorithm>

#include "lab/papers/chi2023/chi2023.h"

namespace poslab::reproduce::chi2023 {
namespace {

const char* const varied[] = {"task", "encoding", "positions", "temperature"};
const std::vector<std::string> tasks = {"even_pairs", "missing_duplicate_string", "reverse_string", "bucket_sort"};

// A scheme, plain and with the scale-invariant factors. ReRoPE's window is half of the trained range.
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
  std::string name, temperature;  // a score of the trained model
  bool scaled;                    // trained with the scale-invariant factors
  std::string at_test;            // measured on the model without a temperature, or nothing
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

const std::pair<const char*, Moved> questions[] = {{"positions", Moved::positions},
                                                   {"gaps", Moved::gaps},
                                                   {"number of keys", Moved::keys},
                                                   {"dispersion", Moved::dispersion},
                                                   {"the length itself", Moved::length}};

// The measures of models trained without a temperature, in this configuration with any seed.
std::vector<Measure> measures(const Choices& c) {
  std::vector<Measure> all;
  for (const Policy& p : policies(c))
    if (!p.at_test.empty())
      all.push_back({"beyond, " + p.name, [at = p.at_test](State s) { return accuracy_beyond(std::move(s), at); }});
  all.push_back({"as trained", [](State s) { return accuracy_moved(std::move(s), Moved::nothing); }});
  for (const auto& [name, moved] : questions)
    if (can_move(c, moved))
      all.push_back({fmt::format("moved: {}", name), [m = moved](State s) { return accuracy_moved(std::move(s), m); }});
  return all;
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

Json cross(const Outcomes& outcomes, const Choices& defaults, const std::string&) {
  const int trained = defaults.whole("train_length"), longest = defaults.lengths("eval_lengths").to;
  Json made = {{"train_length", trained}, {"longest", longest}};
  for (const Policy& p : policies(defaults))
    made["policies"].push_back(
        {{"name", p.name}, {"temperature", p.temperature}, {"scaled", p.scaled}, {"at_test", p.at_test}});
  for (const auto& [name, moved] : questions) made["questions"].push_back(name);
  for (const std::string& task : outcomes.tasks())
    for (const int length : {trained, longest})
      made["majority"][task].push_back(gap_shift::majority(gap_shift::on_task(defaults, task), length));
  std::vector<Measuring> all;  // for each task and scheme the models without a temperature
  std::vector<SchemeName> of;
  for (const bool randomized : {false, true})
    for (const SchemeName& scheme : schemes(defaults, randomized))
      for (const std::string& task : outcomes.tasks()) {
        Choices c = gap_shift::on_task(defaults, task);
        c.set("encoding", scheme.plain), c.set("positions", positions(randomized)), c.set("temperature", "none");
        const auto models = outcomes.by_seed([&](const Choices& trained) {
          return std::all_of(std::begin(varied), std::end(varied),
                             [&](const char* name) { return trained[name] == c[name]; });
        });
        all.push_back({c, models, measures(c)}), of.push_back(scheme);
      }
  const auto found = measured("cross.json", all);
  for (size_t i = 0; i < all.size(); ++i) {
    const Choices& c = all[i].config;
    Json one = {{"task", c["task"]},       {"scheme", of[i].name},   {"positions", c["positions"]},
                {"encoding", of[i].plain}, {"scaled", of[i].scaled}, {"measured", Json::object()}};
    for (size_t n = 0; n < all[i].measures.size(); ++n) one["measured"][all[i].measures[n].name] = by_seed(found[i][n]);
    made["settings"].push_back(std::move(one));
  }
  return made;
}

}  // namespace poslab::reproduce::chi2023
