#include "lab/reproduce/size.h"

#include "core/error.h"
#include "core/names.h"
#include "lab/sweep/plan.h"

namespace poslab::reproduce {
namespace {

const char* fifteen = R"(["even_pairs", "modular_arithmetic", "parity_check", "cycle_navigation", "stack_manipulation",
  "reverse_string", "modular_arithmetic_brackets", "solve_equation", "duplicate_string", "missing_duplicate_string",
  "odds_first", "binary_addition", "binary_multiplication", "compute_sqrt", "bucket_sort"])";

}  // namespace

const std::vector<Size>& all_sizes() {
  static const std::vector<Size> sizes = {
      {"tiny",
       "preset tiny: four tasks that a small model learns in seconds, three seeds; all of a source within an hour on 2 "
       "cores",
       {{"preset", "\"tiny\""},
        {"task", R"(["even_pairs", "missing_duplicate_string", "reverse_string", "bucket_sort"])"},
        {"seeds", "3"}}},
      // Two rates, as at 1e-3 alone many of these models never begin to learn.
      {"example",
       "preset example, the released code's setting, at its learning rate 1e-3 and at the paper's 3e-4: 15 tasks, one "
       "seed; about three days on 2 cores",
       {{"preset", "\"example\""}, {"task", fifteen}, {"lr", "[3e-4, 1e-3]"}}},
      {"paper",
       "preset paper: 15 tasks, 10 seeds, 3 learning rates, 2,000,000 steps each; for a cluster (--plan, poslab sweep "
       "submit)",
       {{"preset", "\"paper\""}, {"task", fifteen}, {"seeds", "10"}, {"lr", "[3e-4, 1e-4, 5e-4]"}}},
  };
  return sizes;
}

const Size& size(const std::string& name) {
  std::vector<std::string> names;
  for (const Size& s : all_sizes()) {
    if (s.name == name) return s;
    names.push_back(s.name);
  }
  throw BadInput(unknown("size", name, names));
}

std::string sweep(const Size& size, const Settings& settings, const Lines& keys, const std::string& also) {
  Lines lines;
  const auto put = [&](const std::string& key, const std::string& value) {
    if (key == "seed" || key == "seeds") lines.erase("seed"), lines.erase("seeds");
    lines[key] = value;
  };
  for (const auto& [key, value] : size.head) put(key, value);
  for (const auto& [key, value] : settings) put(key, value);
  for (const auto& [key, value] : keys) put(key, value);
  std::string text;
  for (const auto& [key, value] : lines) text += fmt::format("{} = {}\n", key, value);
  return text + also;
}

Config usual(const Size& size, const Settings& settings) {
  return make_plan(sweep(size, settings, {{"encoding", "\"none\""}}, ""), "--size " + size.name).front().config;
}

}  // namespace poslab::reproduce
