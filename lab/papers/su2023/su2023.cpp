// The sizes of the third source, changes by --set, and the data for Python.
#include "lab/papers/su2023/su2023.h"

#include <fmt/format.h>

#include "experiment/language/options.h"
#include "lab/files/shell.h"
#include "lab/pages/show/show.h"
#include "lab/runs/values.h"

namespace poslab::reproduce::su2023 {
namespace {

// Options of tests that the tables set themselves.
const Settings tests = read_settings("eval_times=1/2/4/8");
const Settings tests_of_llama = read_settings("eval_times=1/2/4");

// The methods that an artifact tests.
std::vector<Method> methods(const Artifact& a, const Setup& s) {
  static const std::map<std::string, std::vector<Method> (*)(const Setup&)> all = {
      {"su2023:main", main_methods},       {"su2023:window", window_methods},     {"su2023:leaky", leaky_methods},
      {"su2023:llama", llama_methods},     {"su2023:methods", untrained_methods}, {"su2023:trained", trained_methods},
      {"su2023:lengths", length_methods},  {"su2023:far", far_methods},        {"su2023:claims", claim_methods}};
  const auto found = all.find(a.name);
  return found == all.end() ? std::vector<Method>() : found->second(s);
}

// The relative positions of six schemes, which Python draws.
Json matrices() {
  show::Options options;
  for (const show::Set& set : show::all_sets())
    if (set.name == "rerope") options.encodings = set.encodings(16);
  options.views = {"relative"}, options.length = 16, options.causal = true;
  const show::View view = show::views(options)[0];
  Json all = {{"reading", view.reading}, {"matrices", Json::object()}};
  for (const show::Matrix& m : view.matrices)
    for (int i = 0; i < m.rows; ++i) {
      const auto row = m.heads[0].begin() + i * m.cols;
      all["matrices"][m.of].push_back(std::vector<double>(row, row + i + 1));
    }
  return all;
}

Json about(const Artifact& a, const Setup& s) {
  if (a.name == "su2023:matrices") return matrices();
  Json all = {{"methods", Json::array()}};
  for (const Method& m : methods(a, s))
    all["methods"].push_back({{"method", m.name},
                              {"model", m.model},
                              {"encoding", m.encoding},
                              {"temperature", m.temperature},
                              {"file", m.test().test.file},
                              {"row", m.source}});
  return all;
}

std::string how(const Setup& s) {
  const Choices c = language::configure(s.all);
  const std::string text = c["text"].empty() ? "the C++ headers of the compiler" : c["text"];
  return fmt::format(
      "{} of a decoder of {} {}, width {}; {} steps of {} windows of {} tokens of {}{}; {}{} windows of each test.",
      counted(size_t(s.seeds), "seed"), c["layers"], c["unit"] == "gau" ? "gated attention units" : "blocks of LLaMA's",
      c["d_model"], c["steps"], c["batch"], s.length(), text,
      c.whole("merges") ? fmt::format(" (bytes and {} pairs)", c["merges"]) : "",
      c.number("repeats") > 0
          ? fmt::format("{:.3g} % of these windows repeat their beginning; ", 100 * c.number("repeats"))
          : "",
      c["eval_samples"]);
}

}  // namespace

Setup setup(const std::string& size, const std::vector<std::string>& sets) {
  const std::vector<ModelSize> sizes = sizes_of("su2023");
  const ModelSize& of = find("size", sizes, size);
  const Sets said = read_sets(sets, {"eval_times", "eval_tail", "checkpoint_every"});
  const Settings all = joined(of.options, tests), llama = joined(joined(of.options, of.others), tests_of_llama);
  Setup s{joined(all, said.options), joined(llama, said.options), said.seeds.value_or(of.seeds), of.note};
  s.llama = joined(s.llama, {{"unit", "llama"}});
  language::check(RunSpec(language::configure(s.all)));  // refused here rather than in each run
  if (s.length() < 16)
    bad_input("--set train_length={}: the smallest window of ReRoPE is an eighth of it; take 16 or more", s.length());
  s.llama.emplace_back("eval_tail", fmt::format("{}", s.length()));
  language::check(RunSpec(language::configure(s.llama)));
  return s;
}

ModelSource source(const ModelRequest& request) {
  const Setup s = setup(request.size, request.sets);
  const auto tests = [s](const Artifact& a) {
    std::vector<ModelTest> all;
    for (const Method& m : methods(a, s)) all.push_back(m.test());
    return all;
  };
  return {.models = {models(s), s.seeds},
          .tests = tests,
          .how = how(s),
          .about = {{"seeds", s.seeds},
                    {"note", s.note},
                    {"stretch", stretch},
                    {"far", far},
                    {"options", config_json(language::configure(s.all))},
                    {"llama", config_json(language::configure(s.llama))}},
          .about_artifact = [s](const Artifact& a) { return about(a, s); }};
}

}  // namespace poslab::reproduce::su2023
