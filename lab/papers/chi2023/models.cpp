// What is trained, and with what each trained model is tested.
#include <fmt/format.h>

#include <algorithm>

#include "experiment/t5/options.h"
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
std::vector<Test> of_tasks(const Setup& s, const std::vector<Mode>& modes, bool tested) {
  std::vector<Test> all;
  for (const std::string& task : s.tasks())
    for (const Test& t : of_model(s.model_of(task), {task}, modes, tested)) all.push_back(t);
  return all;
}
std::vector<Test> of_encodings(const Setup& s) {
  std::vector<Test> all;
  const std::vector<Model> trained = models(s);
  for (const auto& [model, name] : encoding_models())
    for (const Test& t : of_model(model, find("model", trained, model).tasks, {Mode::original, Mode::pmax}, true))
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

}  // namespace

std::string name_of(Mode mode) { return known(mode).name; }
std::string word_of(Mode mode) { return known(mode).word; }
std::string word_of(const Test& t) {
  return t.task.empty() ? word_of(t.mode) : short_task(t.task) + "-" + word_of(t.mode);
}
std::string short_task(const std::string& spelled) { return choose_retrieval(spelled).thing.name; }
bool is_language(const std::string& model) { return model == "lm"; }

const std::vector<std::pair<std::string, std::string>>& encoding_models() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"t5", "T5's biases"}, {"rope", "RoPE"}, {"alibi", "ALiBi"}, {"learned", "learned positions"}};
  return all;
}

// Topics alone, which are easier, have half of the steps.
std::vector<Model> models(const Setup& s) {
  const auto with = [&](const std::string& name, const Settings& more) {
    const Settings all = joined(s.t5, more);
    return Model{name, all, split(t5::configure(all)["tasks"], '/')};
  };
  const std::string half = fmt::format("{}", std::max(1, t5::configure(s.t5).whole("steps") / 2));
  return {with("t5", {}),
          with("topic", {{"tasks", "topic"}, {"steps", half}}),
          with("documents", {{"tasks", "passkey/documents"}}),  // documents alone are learned in more steps
          with("rope", {{"encoding", "rope"}}),
          with("alibi", {{"encoding", "alibi:mode=differences"}}),
          with("learned", {{"encoding", "learned"}}),
          {"lm", s.lm, {}}};
}

std::string Setup::model_of(const std::string& task) const {
  for (const Model& m : models(*this))
    for (const std::string& learned : m.tasks)
      if (short_task(learned) == short_task(task)) return m.name;
  failure("no model learns {}; add one to models()", task);
}

std::vector<std::string> Setup::learned_together() const { return models(*this).front().tasks; }

std::vector<std::string> Setup::tasks() const {
  std::vector<std::string> all = learned_together();
  const std::vector<Model> trained = models(*this);
  for (const std::string& task : find("model", trained, "topic").tasks)
    if (model_of(task) == "topic") all.push_back(task);
  return all;
}

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

}  // namespace poslab::reproduce::chi2023
