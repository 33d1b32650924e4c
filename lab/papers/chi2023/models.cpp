// What is trained at each size, and with what each trained model is tested.
#include <fmt/ranges.h>

#include <algorithm>

#include "experiment/language/options.h"
#include "experiment/t5/options.h"
#include "lab/files/shell.h"
#include "lab/papers/chi2023/chi2023.h"
#include "tasks/retrieval/retrieval.h"

namespace poslab::reproduce::chi2023 {
namespace {

struct ModeName {
  Mode mode;
  const char *name, *word;
};
const ModeName mode_names[] = {{Mode::original, "original", ""},
                               {Mode::log, "log rule", "log"},
                               {Mode::pmax, "maximum probability", "pmax"},
                               {Mode::entropy, "entropy", "entropy"},
                               {Mode::prop1, "proposition 1", "prop1"},
                               {Mode::prop2, "proposition 2", "prop2"}};
const ModeName& known(Mode mode) {
  return *std::find_if(std::begin(mode_names), std::end(mode_names), [&](auto& m) { return m.mode == mode; });
}

// Each of these tasks with each of these modes.
std::vector<Test> of_model(const std::string& model, const std::vector<std::string>& tasks,
                           const std::vector<Mode>& modes, bool tested) {
  std::vector<Test> all;
  for (const std::string& task : tasks)
    for (const Mode mode : modes) all.push_back({model, task, mode, tested});
  return all;
}
std::vector<Test> of_encodings(const Setup& s) {
  std::vector<Test> all;
  const std::vector<Model> trained = models(s);
  for (const auto& [model, name] : encoding_models())
    for (const Test& t : of_model(model, learned(find("model", trained, model)), {Mode::original, Mode::pmax}, true))
      all.push_back(t);
  return all;
}

std::vector<Test> of_largest(const Setup& s) { return of_tasks(s, {Mode::pmax}, false); }
std::vector<Test> of_perplexity(const Setup&) {
  return of_model("lm", {""}, {Mode::original, Mode::pmax, Mode::entropy}, true);
}
std::vector<Test> of_retrieval(const Setup& s) {
  return of_tasks(s, {Mode::original, Mode::log, Mode::pmax, Mode::entropy}, true);
}
std::vector<Test> of_temperatures(const Setup& s) { return of_tasks(s, {Mode::pmax, Mode::entropy}, false); }
std::vector<Test> of_documents(const Setup&) {
  return of_model("documents", {"documents"}, {Mode::original, Mode::pmax, Mode::entropy}, true);
}
std::vector<Test> of_biases(const Setup& s) { return of_model("t5", s.learned_together(), {Mode::original}, true); }
std::vector<Test> of_quantiles(const Setup& s) { return of_tasks(s, {Mode::original}, true); }
std::vector<Test> of_curves(const Setup& s) {
  return of_tasks(s, {Mode::pmax, Mode::entropy, Mode::prop1, Mode::prop2}, false);
}

// Lengths in tokens beyond the trained one.
std::vector<int> longer(const Setup& s, const std::string& model) {
  if (!is_language(model)) return s.longer();
  const Choices c = language::configure(s.lm);
  return beyond(c.whole("train_length"), language::eval_lengths(c));
}
int shortest(const Setup& s, const std::string& model) {
  return is_language(model) ? language::configure(s.lm).whole("train_length") : s.length();
}

std::string how(const Setup& s) {
  const Choices c = t5::configure(s.t5);
  return fmt::format(
      "{} of a T5 of {} and {} layers, width {}; {} steps of {} tokens in questions of up to {}; {} questions of "
      "each task and length in a test, and {} in an alignment.",
      counted(size_t(s.seeds), "seed"), c["layers"], c["decoder_layers"], c["d_model"], c["steps"], c["tokens"],
      c["train_length"], c["eval_samples"], aligned_samples);
}

// What an artifact tests (null: nothing is trained), and how it is drawn.
struct Drawing {
  std::vector<Test> (*tests)(const Setup&);
  Section (*draw)(const Results&);
};
const Drawing& drawing(const Artifact& a) {
  static const std::map<std::string, Drawing> all = {
      {"chi2023:table1", {of_largest, dispersed}},
      {"chi2023:table2", {of_encodings, encodings}},
      {"chi2023:table3", {of_perplexity, perplexity}},
      {"chi2023:table4", {of_retrieval, retrieval}},
      {"chi2023:table5", {of_temperatures, temperatures}},
      {"chi2023:table6", {of_documents, documents}},
      {"chi2023:table7", {of_largest, largest_logits}},
      {"chi2023:fig1", {of_biases, biases}},
      {"chi2023:fig2", {of_quantiles, quantiles}},
      {"chi2023:fig3", {of_curves, curves}},
      {"chi2023:propositions", {nullptr, [](const Results&) { return propositions(); }}}};
  return all.at(a.name);
}

}  // namespace

std::vector<ModelTest> steps(const Setup& s, const Test& t) {
  if (t.mode == Mode::original) return {{t.model, {own_test, {}}}};
  std::vector<std::string> align = {"align",
                                    "{run}",
                                    "--mode=" + word_of(t.mode),
                                    fmt::format("--short={}", shortest(s, t.model)),
                                    fmt::format("--long={}", fmt::join(longer(s, t.model), ",")),
                                    fmt::format("--samples={}", aligned_samples),
                                    fmt::format("--grid={}", fmt::join(grid(), ",")),
                                    "--out={run}/" + t.alignment()},
                           test = {is_language(t.model) ? "lm" : "t5", "eval", "{run}", "--out={run}/" + t.file(),
                                   "--temperature=aligned:{run}/" + t.alignment()};
  if (!t.task.empty())
    for (auto* words : {&align, &test}) words->push_back("--tasks=" + t.task);
  std::vector<ModelTest> all = {{t.model, {t.alignment(), align}}};
  if (t.tested) all.push_back({t.model, {t.file(), test}});
  return all;
}

std::vector<Test> of_tasks(const Setup& s, const std::vector<Mode>& modes, bool tested) {
  std::vector<Test> all;
  for (const std::string& task : s.tasks())
    for (const Test& t : of_model(s.model_of(task), {task}, modes, tested)) all.push_back(t);
  return all;
}

std::vector<double> grid() {
  std::vector<double> all;
  for (int hundredths = 100; hundredths >= 10; hundredths -= 5) all.push_back(hundredths / 100.);
  return all;
}

std::string name_of(Mode mode) { return known(mode).name; }
std::string word_of(Mode mode) { return known(mode).word; }
std::string Test::word() const { return task.empty() ? word_of(mode) : short_task(task) + "-" + word_of(mode); }
std::string Test::alignment() const { return "aligned/" + word() + ".json"; }
std::string Test::file() const { return mode == Mode::original ? own_test : "tests/" + word() + ".csv"; }
std::string short_task(const std::string& spelled) { return choose_retrieval(spelled).thing.name; }
bool is_language(const std::string& model) { return model == "lm"; }

const std::vector<std::pair<std::string, std::string>>& encoding_models() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"t5", "T5's biases"}, {"rope", "RoPE"}, {"alibi", "ALiBi"}, {"learned", "learned positions"}};
  return all;
}

std::string encoding_name(const std::string& model) {
  const auto& all = encoding_models();
  return std::find_if(all.begin(), all.end(), [&](auto& one) { return one.first == model; })->second;
}

// Topics alone, which are easier, have half of the steps.
std::vector<Model> models(const Setup& s) {
  const auto with = [&](const std::string& name, const Settings& more) {
    return Model{name, &t5_kind(), joined(s.t5, more)};
  };
  const std::string half = fmt::format("{}", std::max(1, t5::configure(s.t5).whole("steps") / 2));
  return {with("t5", {}),
          with("topic", {{"tasks", "topic"}, {"steps", half}}),
          with("documents", {{"tasks", "passkey/documents"}}),  // documents alone are learned in more steps
          with("rope", {{"encoding", "rope"}}),
          with("alibi", {{"encoding", "alibi:mode=differences"}}),
          with("learned", {{"encoding", "learned"}}),
          {"lm", &language_kind(), s.lm}};
}

std::vector<std::string> learned(const Model& m) {
  if (is_language(m.name)) return {};
  return split(t5::configure(m.settings)["tasks"], '/');
}

std::string Setup::model_of(const std::string& task) const {
  for (const Model& m : models(*this))
    for (const std::string& one : learned(m))
      if (short_task(one) == short_task(task)) return m.name;
  failure("no model learns {}; add one to models()", task);
}

std::vector<std::string> Setup::learned_together() const { return learned(models(*this).front()); }

std::vector<std::string> Setup::tasks() const {
  std::vector<std::string> all = learned_together();
  const std::vector<Model> trained = models(*this);
  for (const std::string& task : learned(find("model", trained, "topic")))
    if (model_of(task) == "topic") all.push_back(task);
  return all;
}

const std::vector<ModelSize>& all_sizes() {
  static const std::vector<ModelSize> sizes = {
      {"tiny",
       "a T5 of 2 and 1 layers of width 96, contexts of up to 128 tokens, three seeds; all but the cross within an "
       "hour on 2 cores",
       3, options("preset=tiny tasks=passkey/line eval_samples=32"),
       options("preset=tiny text=copy_grammar encoding=t5 train_length=64 steps=600 batch=16 eval_samples=8 "
               "eval_times=1/2/4/8/16")},
      {"example",
       "preset example of `poslab t5 train`: 6 layers of width 256, contexts of up to 512 tokens, one seed; for a "
       "machine with many cores",
       1, options("preset=example tasks=passkey/line"),
       options("preset=example encoding=t5 merges=0 eval_times=1/2/4/8/16")},
  };
  return sizes;
}

Setup setup(const std::string& size, const std::vector<std::string>& sets) {
  const ModelSize& of = find("size", all_sizes(), size);
  const Sets said = read_sets(sets, {}, "lm_");
  const Setup s{joined(of.options, said.options), joined(of.others, said.prefixed), said.seeds.value_or(of.seeds)};
  t5::check(t5::configure(s.t5)), language::check(language::configure(s.lm));  // refused now, and not in each run
  if (s.longer().empty())
    bad_input("--set eval_lengths={}: none is beyond the trained length {}; test a longer one",
              t5::configure(s.t5)["eval_lengths"], s.length());
  return s;
}

int Setup::length() const { return t5::configure(t5).whole("train_length"); }

std::vector<int> Setup::longer() const { return beyond(length(), t5::eval_lengths(t5::configure(t5))); }

std::vector<int> Setup::lengths() const {
  std::vector<int> all = longer();
  all.insert(all.begin(), length());
  return all;
}

std::vector<int> beyond(int length, std::vector<int> tested) {
  std::erase_if(tested, [&](int n) { return n <= length; });
  std::sort(tested.begin(), tested.end());
  return tested;
}

ModelSource source(const ModelRequest& request) {
  const Results results(setup(request.size, request.sets), request.folder);
  const auto tests = [s = results.setup()](const Artifact& a) {
    std::vector<ModelTest> all;
    if (const Drawing& d = drawing(a); d.tests)
      for (const Test& t : d.tests(s))
        for (ModelTest& step : steps(s, t)) all.push_back(std::move(step));
    return all;
  };
  return {results.trained(), tests, [results](const Artifact& a) { return drawing(a).draw(results); },
          how(results.setup())};
}

}  // namespace poslab::reproduce::chi2023
