// The models and methods of the third source, changes by --set, and the data for Python.
#include "lab/papers/su2023/su2023.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiment/language/options.h"
#include "lab/pages/show/show.h"
#include "lab/papers/data.h"
#include "lab/runs/values.h"

namespace poslab::reproduce::su2023 {
namespace {

// The longest tested length, in trained lengths, except in su2023:far.
constexpr int stretch = 8;
// Options of tests that the tables set themselves.
const Settings tests = read_settings("eval_times=1/2/4/8");
const Settings tests_of_llama = read_settings("eval_times=1/2/4");

// A trained model, tested with another scheme or temperature.
struct Method {
  std::string name, model, encoding, temperature, source, times;  // source: a row of its table, or ""
};

// Options of the runs, and the window of HFWA by Su's rule of thumb: its windows let a slot see (w - 1)(layers - 1) + 1
// tokens, about 0.68 of the trained length in his experiment, so 16 of 512 in 24 layers.
ValueOf value_in(const Setup& s) {
  return [c = language::configure(s.all)](const std::string& name) {
    const int length = c.whole("train_length"), layers = c.whole("layers");
    return name == "hfwa" ? fmt::format("{}", std::max(2, 1 + int((0.68 * length - 1) / std::max(1, layers - 1))))
                          : c[name];
  };
}

// log: "", "-logn" or "-logn_test_only"; times: the longest tested length if it is not that of all tables
Method method(const std::string& id, const std::string& log, const std::optional<int64_t>& times, const Setup& s) {
  const toml::node& said = *data("su2023.method").get(id);
  const auto text = [&](const char* key) {
    return filled(text_in(said, key), [&](const std::string& name) {
      return name == "log" ? log : name == "times" ? fmt::format("{}", times.value_or(stretch)) : value_in(s)(name);
    });
  };
  Method m{text("name"), text("model"), text("encoding"), text("temperature"), text("source"), ""};
  if (m.model.empty()) m.model = log == "-logn" ? "rope_log_n" : "rope";
  if (log == "-logn_test_only") m.temperature = filled("log_n:length={train_length},only_longer", value_in(s));
  if (m.source.empty()) m.source = m.name;
  if (times) m.times = fmt::format("1/{}/{}", stretch, *times), m.source = "";
  return m;
}

// The methods that an artifact tests.
std::vector<Method> methods(const Artifact& a, const Setup& s) {
  const toml::table& said = data("su2023." + a.name.substr(a.name.find(':') + 1));
  std::vector<Method> all;
  if (!said.contains("methods")) return all;
  for (const std::string& one : words_in(*said.get("methods"))) {
    const size_t end = std::min(one.find_first_of("-*"), one.size());
    const bool each = one.ends_with('*');
    for (const std::string& log :
         each ? std::vector<std::string>{"", "-logn_test_only", "-logn"} : std::vector<std::string>{one.substr(end)})
      all.push_back(method(one.substr(0, end), log, said["times"].value<int64_t>(), s));
  }
  return all;
}

ModelTest test_of(const Method& m) {
  if (m.encoding.empty() && m.temperature.empty() && m.times.empty()) return {m.model, {own_test, {}}};
  const std::string file = fmt::format("tests/{}{}.csv", m.name, m.times.empty() ? "" : "-far");
  std::vector<std::string> words = {"lm", "eval", "{run}", "--out={run}/" + file};
  for (const auto& [option, value] :
       {std::pair{"encoding", &m.encoding}, {"temperature", &m.temperature}, {"times", &m.times}})
    if (!value->empty()) words.push_back(fmt::format("--{}={}", option, *value));
  return {m.model, {file, words}};
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
                              {"file", test_of(m).test.file},
                              {"row", m.source}});
  return all;
}

}  // namespace

Setup setup(const std::string& size, const std::vector<std::string>& sets) {
  const std::vector<ModelSize> sizes = sizes_of("su2023");
  const ModelSize& of = find("size", sizes, size);
  const Sets said = read_sets(sets, {"eval_times", "eval_tail", "checkpoint_every"});
  const Settings all = joined(of.options, tests), llama = joined(joined(of.options, of.others), tests_of_llama);
  Setup s{joined(all, said.options), joined(llama, said.options), said.seeds.value_or(of.seeds), of.note};
  s.llama = joined(s.llama, {{"unit", "llama"}});
  const Choices c = language::configure(s.all);
  language::check(RunSpec(c));  // refused here rather than in each run
  if (c.whole("train_length") < 16)
    bad_input("--set train_length={}: an eighth of it, the smallest window of ReRoPE, is below 2; take 16 or more",
              c["train_length"]);
  s.llama.emplace_back("eval_tail", c["train_length"]);
  language::check(RunSpec(language::configure(s.llama)));
  return s;
}

std::vector<Model> models(const Setup& s) {
  return models_in("su2023", {&language_kind(), s.all}, {&language_kind(), s.llama}, value_in(s));
}

ModelSource source(const ModelRequest& request) {
  const Setup s = setup(request.size, request.sets);
  const auto tests = [s](const Artifact& a) {
    std::vector<ModelTest> all;
    for (const Method& m : methods(a, s)) all.push_back(test_of(m));
    return all;
  };
  return {.models = {models(s), s.seeds},
          .tests = tests,
          .about = {{"seeds", s.seeds},
                    {"note", s.note},
                    {"stretch", stretch},
                    {"far", data("su2023.far")["times"].value<int64_t>().value()},
                    {"options", config_json(language::configure(s.all))},
                    {"llama", config_json(language::configure(s.llama))}},
          .about_artifact = [s](const Artifact& a) { return about(a, s); }};
}

}  // namespace poslab::reproduce::su2023
