// The models trained at each size, the tests of each, and the data for Python.
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "autograd/tape.h"
#include "encodings/picture.h"
#include "encodings/samplers.h"
#include "experiment/language/options.h"
#include "experiment/t5/inside.h"
#include "experiment/t5/learner.h"
#include "experiment/t5/options.h"
#include "lab/papers/chi2023/chi2023.h"
#include "lab/papers/data.h"
#include "lab/runs/run.h"
#include "lab/runs/values.h"
#include "tasks/retrieval/symbols.h"

namespace poslab::reproduce::chi2023 {
namespace {

constexpr int aligned_samples = 2;  // questions, or texts of the language model, at each length of an alignment

std::string short_task(const std::string& spelled) { return choose_retrieval(spelled).thing.name; }  // without options

bool is_language(const std::string& model) { return model == "lm"; }

std::vector<std::string> learned(const Model& m) {
  return is_language(m.name) ? std::vector<std::string>() : split(t5::configure(m.settings)["tasks"], '/');
}

std::vector<int> beyond(int length, std::vector<int> tested) {  // the longer ones, rising
  std::erase_if(tested, [&](int n) { return n <= length; });
  std::sort(tested.begin(), tested.end());
  return tested;
}

// The grid of algorithm 1: the source's, 1.0, 0.95, ..., 0.5, extended to 0.1.
std::vector<double> grid() {
  std::vector<double> all;
  for (int hundredths = 100; hundredths >= 10; hundredths -= 5) all.push_back(hundredths / 100.);
  return all;
}

// The steps of a trial for a test: align, then test the result. task: "" for the language model.
void add_steps(std::vector<ModelTest>& all, const Setup& s, const std::string& model, const std::string& task,
               const std::string& mode, bool tested) {
  if (mode.empty()) return all.push_back({model, {own_test, {}}});
  const Choices lm = language::configure(s.lm);
  const bool language = is_language(model);
  const std::string name = task.empty() ? mode : short_task(task) + "-" + mode, aligned = "aligned/" + name + ".json",
                    file = "tests/" + name + ".csv";
  const int shortest = language ? lm.whole("train_length") : s.length();
  std::vector<std::string> align = {"align",
                                    "{run}",
                                    "--mode=" + mode,
                                    fmt::format("--short={}", shortest),
                                    fmt::format(
                                        "--long={}",
                                        fmt::join(language ? beyond(shortest, language::eval_lengths(lm)) : s.longer(),
                                                  ",")),
                                    fmt::format("--samples={}", aligned_samples),
                                    "--out={run}/" + aligned},
                           test = {language ? "lm" : "t5", "eval", "{run}", "--out={run}/" + file,
                                   "--temperature=aligned:{run}/" + aligned};
  if (mode == "pmax" || mode == "entropy") align.push_back(fmt::format("--grid={}", fmt::join(grid(), ",")));
  if (!task.empty())
    for (auto* words : {&align, &test}) words->push_back("--tasks=" + task);
  all.push_back({model, {aligned, align}});
  if (tested) all.push_back({model, {file, test}});
}

std::vector<ModelTest> tests_of(const Artifact& a, const Setup& s) {
  const toml::table& said = data("chi2023." + a.name.substr(a.name.find(':') + 1));
  if (!said.contains("modes")) return {};
  const std::string only = text_in(said, "only");
  std::vector<std::pair<std::string, std::string>> of;  // model and task
  if (!said.contains("models"))
    for (const std::string& task : s.tasks()) of.emplace_back(s.model_of(task), task);
  else
    for (const std::string& model : words_in(*said.get("models"))) {
      std::vector<std::string> tasks = learned(find("model", models(s), model));
      if (is_language(model)) tasks = {""};
      for (const std::string& task : tasks)
        if (only.empty() || only == short_task(task)) of.emplace_back(model, task);
    }
  std::vector<ModelTest> all;
  for (const auto& [model, task] : of) {
    for (const std::string& mode : words_in(*said.get("modes")))
      add_steps(all, s, model, task, mode, said["tested"].value_or(true));
    if (!a.record.empty()) all.push_back({model, {a.record, {}}});
  }
  return all;
}

// The subjects of the tables: tasks without their options, in the order of rows.
Json about(const Setup& s) {
  const Choices lm = language::configure(s.lm);
  Json all = {{"seeds", s.seeds},
              {"length", s.length()},
              {"longer", s.longer()},
              {"grid", grid()},
              {"lm", config_json(lm)},
              {"lm_lengths", language::eval_lengths(lm)},
              {"t5", config_json(t5::configure(s.t5))},
              {"aligned_samples", aligned_samples},
              {"tasks", Json::object()},
              {"together", Json::array()}};
  for (const std::string& task : s.tasks()) all["tasks"][short_task(task)] = s.model_of(task);
  for (const std::string& task : s.learned_together()) all["together"].push_back(short_task(task));
  std::vector<int> lengths = s.longer();
  lengths.insert(lengths.begin(), s.length());
  for (const Model& m : models(s))
    for (const std::string& task : learned(m))
      for (const int length : lengths) all["guess"][short_task(task)][fmt::format("{}", length)] = guess(task, length);
  return all;
}

}  // namespace

double guess(const std::string& task, int length) {
  Rng rng(stream(0, Purpose::test_tokens, 0));
  const SymbolQuestion q = draw(choose_retrieval(task), length, {}, rng);
  const auto ask = std::find(q.tokens.begin(), q.tokens.end(), symbols::ask);
  const auto answers = std::count(q.tokens.begin(), ask, *(ask + 1));
  return answers > 1 ? 1. / double(answers) : std::pow(symbols::base, -double(q.answer.size()));
}

Json biases(const T5& net) {
  const NoGrad still;
  const int reach = 160, T = 2 * reach + 1;  // beyond the last bucket, whose first distance is 91
  const Tensor all = position_matrix(net.encoding(), net.spec().shape(false),
                                     Positions::of_tokens(1, even_steps(0, 1, T)));  // (H, T, T)
  Json made;
  for (int j = 0; j < T; ++j) made["distance"].push_back(j - reach);
  for (int h = 0; h < all.dim(0); ++h) {
    const real* row = all.data() + (int64_t(h) * T + reach) * T;
    made["bias"].push_back(std::vector<double>(row, row + T));
  }
  return made;
}

Json logits(t5::State& state) {
  constexpr int points = 41, questions = 4;
  const NoGrad still;
  const std::vector<int> longer = beyond(state.config.whole("train_length"), t5::eval_lengths(state.config));
  Json made = {{"questions", questions}};
  for (const std::string& task : split(std::string(state.config["tasks"]), '/')) {
    state.config.set("tasks", task);
    for (const int length : {state.config.whole("train_length"), longer[std::min<size_t>(longer.size() - 1, 2)]})
      made["tasks"][short_task(task)][fmt::format("{}", length)] =
          sorted_logits(t5::probed(state, questions), length, points, questions);
  }
  return made;
}

std::vector<Model> models(const Setup& s) {
  return models_in("chi2023", {&t5_kind(), s.t5}, {&language_kind(), s.lm}, value_in(t5::configure(s.t5)));
}

std::string Setup::model_of(const std::string& task) const {
  for (const Model& m : models(*this))
    for (const std::string& one : learned(m))
      if (short_task(one) == short_task(task)) return m.name;
  failure("no model learns {}; add one to artifacts.toml", task);
}

std::vector<std::string> Setup::learned_together() const { return learned(models(*this).front()); }

std::vector<std::string> Setup::tasks() const {
  std::vector<std::string> all = learned_together();
  for (const std::string& task : learned(find("model", models(*this), "topic")))
    if (model_of(task) == "topic") all.push_back(task);
  return all;
}

Setup setup(const std::string& size, const std::vector<std::string>& sets) {
  const std::vector<ModelSize> sizes = sizes_of("chi2023");
  const ModelSize& of = find("size", sizes, size);
  const Sets said = read_sets(sets, {}, "lm_");
  const Setup s{joined(of.options, said.options), joined(of.others, said.prefixed), said.seeds.value_or(of.seeds)};
  // Refused here rather than in each run.
  t5::check(RunSpec(t5::configure(s.t5))), language::check(RunSpec(language::configure(s.lm)));
  if (s.longer().empty())
    bad_input("--set eval_lengths={}: none is beyond the trained length {}; test a longer one",
              t5::configure(s.t5)["eval_lengths"], s.length());
  return s;
}

int Setup::length() const { return t5::configure(t5).whole("train_length"); }

std::vector<int> Setup::longer() const { return beyond(length(), t5::eval_lengths(t5::configure(t5))); }

ModelSource source(const ModelRequest& request) {
  const Setup s = setup(request.size, request.sets);
  return {.models = {models(s), s.seeds},
          .tests = [s](const Artifact& a) { return tests_of(a, s); },
          .about = about(s),
          .about_artifact = [](const Artifact&) { return Json::object(); },
          .measure =
              [](const std::string& file, const std::string& run) {
                const auto of = open_as<t5::QuestionLearner>(t5_kind(), run);
                return file == "biases.json" ? biases(of.learner->state.net) : logits(of.learner->state);
              }};
}

}  // namespace poslab::reproduce::chi2023
