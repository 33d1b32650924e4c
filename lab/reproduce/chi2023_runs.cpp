// Training, aligning and testing what the tables need, and reading what is there.
#include <algorithm>
#include <filesystem>
#include <set>

#include "core/error.h"
#include "experiment/language/options.h"
#include "lab/align.h"
#include "lab/files.h"
#include "lab/language/run.h"
#include "lab/reproduce/chi2023.h"
#include "lab/shell.h"
#include "lab/t5/run.h"

namespace poslab::reproduce::chi2023 {
namespace {
namespace fs = std::filesystem;
using nlohmann::json;
using Words = std::vector<std::string>;

struct ModeName {
  Mode mode;
  const char *name, *word;  // for people, and of `poslab align --mode`
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

std::string word_of(const Test& t) {  // "line-pmax"
  return t.task.empty() ? known(t.mode).word : choose_retrieval(t.task).thing.name + "-" + known(t.mode).word;
}
bool is_aligned(Mode mode) { return mode != Mode::original; }

std::string joined(const std::vector<int>& numbers, char between) {
  std::string text;
  for (const int n : numbers) text += fmt::format("{}{}", text.empty() ? "" : std::string(1, between), n);
  return text;
}

RunKind kind(const std::string& model) { return is_language(model) ? RunKind::language : RunKind::t5; }

// Lengths in tokens beyond the trained one.
std::vector<int> longer(const Setup& s, const std::string& model) {
  if (!is_language(model)) return s.longer();
  const Choices c = language::configure(s.lm);
  std::vector<int> all;
  for (const int n : language::eval_lengths(c))
    if (n > c.whole("train_length")) all.push_back(n);
  std::sort(all.begin(), all.end());
  return all;
}
int shortest(const Setup& s, const std::string& model) {
  return is_language(model) ? language::configure(s.lm).whole("train_length") : s.length();
}

// Seconds, about: a layer reads T tokens and T^2 pairs. Aligning takes eleven passes of a few strings.
double pass(const Setup& s, const std::string& model) {
  double all = 0;
  for (const int n : longer(s, model)) all += n * (1 + n / 400.);
  return all / 1e5;
}

Words align_words(const Setup& s, const Test& t, const std::string& run, const std::string& file) {
  Words words = {"align",
                 run,
                 "--mode=" + std::string(known(t.mode).word),
                 fmt::format("--short={}", shortest(s, t.model)),
                 "--long=" + joined(longer(s, t.model), ','),
                 "--samples=4",
                 "--out=" + file};
  if (!t.task.empty()) words.push_back("--tasks=" + t.task);
  return words;
}

Words test_words(const Test& t, const std::string& run, const std::string& alignment, const std::string& file) {
  Words words = {is_language(t.model) ? "lm" : "t5", "eval", run, "--out=" + file,
                 "--temperature=aligned:" + alignment};
  if (!t.task.empty()) words.push_back("--tasks=" + t.task);
  return words;
}

struct Source : ByCommands {
  Results results;
  int threads;
  explicit Source(const CommandRequest& r) : results(chi2023::setup(r.size, r.sets), r.folder), threads(r.threads) {}
  std::vector<Chain> chains(const std::vector<const Artifact*>&) const override;
  Section draw(const Artifact&) const override;
  std::string how() const override;
};

std::vector<Chain> Source::chains(const std::vector<const Artifact*>& artifacts) const {
  const Setup& s = results.setup();
  std::vector<Test> all;
  for (const Artifact* a : artifacts)
    for (const Test& t : chi2023::tests(*a, s)) all.push_back(t);
  std::vector<Chain> chains;
  for (int seed = 0; seed < s.seeds; ++seed)
    for (const Model& model : models(s)) {
      const std::string run = results.run(model.name, seed), of_threads = fmt::format("--threads={}", threads);
      Settings settings = model.settings;
      settings.emplace_back("seed", fmt::format("{}", seed));
      Chain chain{fmt::format("{}-{}", model.name, seed), {}};
      std::set<std::string> left;
      const auto add = [&](const Test& t, const char* what, const std::string& file, double work, Words words) {
        if (!left.insert(file).second) return;
        words.push_back(of_threads);
        chain.steps.push_back({what + std::string(" ") + word_of(t),
                               [=] {
                                 make_folder(fs::path(file).parent_path());
                                 return words;
                               },
                               file, work});
      };
      for (const Test& t : all) {
        if (t.model != model.name) continue;
        if (chain.steps.empty())
          chain.steps.push_back(training(kind(model.name), settings, run, threads, 60 * pass(s, model.name) + 100));
        if (!is_aligned(t.mode)) continue;
        const std::string file = results.aligned(t, seed);
        add(t, "aligning", file, 40 * pass(s, t.model), align_words(s, t, run, file));
        if (t.tested)
          add(t, "testing", results.test(t, seed), 30 * pass(s, t.model),
              test_words(t, run, file, results.test(t, seed)));
      }
      if (!chain.steps.empty()) chains.push_back(std::move(chain));
    }
  return chains;
}

std::string Source::how() const {
  const Setup& s = results.setup();
  const Choices c = t5::configure(s.t5);
  return fmt::format(
      "{} of a T5 of {} and {} layers, width {}; {} steps of {} tokens in questions of up to {}; {} questions of "
      "each task and length in a test.",
      counted(size_t(s.seeds), "seed"), c["layers"], c["decoder_layers"], c["d_model"], c["steps"], c["tokens"],
      c["train_length"], c["eval_samples"]);
}

struct Drawing {
  std::vector<Test> (*tests)(const Setup&);  // null: nothing is trained
  Section (*draw)(const Results&);
};

// Each of these tasks with each of these modes.
std::vector<Test> of_model(const std::string& model, const std::vector<std::string>& tasks,
                           const std::vector<Mode>& modes, bool tested) {
  std::vector<Test> all;
  for (const std::string& task : tasks)
    for (const Mode mode : modes) all.push_back({model, task, mode, tested});
  return all;
}
std::vector<Test> of_t5(const std::vector<Mode>& modes, bool tested, const Setup& s) {
  std::vector<Test> all;
  for (const std::string& task : s.tasks())
    for (const Test& t : of_model(model_of(task), {task}, modes, tested)) all.push_back(t);
  return all;
}
std::vector<Test> of_encodings(const Setup& s) {
  std::vector<Test> all;
  for (const char* model : {"t5", "rope", "alibi", "learned"})
    for (const Test& t : of_model(model, s.learned_together(), {Mode::original, Mode::pmax}, true)) all.push_back(t);
  return all;
}

const Drawing& drawing(const Artifact& a) {
  using enum Mode;
  static const std::map<std::string, Drawing> all = {
      {"chi2023:table1", {[](const Setup& s) { return of_t5({pmax}, false, s); }, dispersed}},
      {"chi2023:table2", {of_encodings, encodings}},
      {"chi2023:table3",
       {[](const Setup&) {
          return of_model("lm", {""}, {original, pmax, entropy}, true);
        },
        perplexity}},
      {"chi2023:table4",
       {[](const Setup& s) {
          return of_t5({original, log, pmax, entropy}, true, s);
        },
        retrieval}},
      {"chi2023:table5",
       {[](const Setup& s) {
          return of_t5({pmax, entropy}, false, s);
        },
        temperatures}},
      {"chi2023:table6",
       {[](const Setup&) {
          return of_model("documents", {"documents"}, {original, pmax, entropy}, true);
        },
        documents}},
      {"chi2023:table7", {[](const Setup& s) { return of_t5({pmax}, false, s); }, largest_logits}},
      {"chi2023:fig1", {[](const Setup& s) { return of_model("t5", s.learned_together(), {original}, true); }, biases}},
      {"chi2023:fig2", {[](const Setup& s) { return of_t5({original}, true, s); }, quantiles}},
      {"chi2023:fig3",
       {[](const Setup& s) {
          return of_t5({pmax, entropy, prop1, prop2}, false, s);
        },
        curves}},
      {"chi2023:propositions", {nullptr, [](const Results&) { return propositions(); }}}};
  return all.at(a.name);
}

Section Source::draw(const Artifact& a) const { return drawing(a).draw(results); }

}  // namespace

bool is_language(const std::string& model) { return model == "lm"; }
std::string model_of(const std::string& task) { return task == "topic" ? task : "t5"; }
std::string name_of(Mode mode) { return known(mode).name; }

std::vector<Test> tests(const Artifact& a, const Setup& s) {
  const Drawing& d = drawing(a);
  return d.tests ? d.tests(s) : std::vector<Test>();
}

// Topic is learned in half of the steps.
std::vector<Model> models(const Setup& s) {
  const auto with = [&](const Settings& more) {
    Settings all = s.t5;
    all.insert(all.end(), more.begin(), more.end());
    return all;
  };
  const std::string half = fmt::format("{}", std::max(1, t5::configure(s.t5).whole("steps") / 2));
  return {{"t5", s.t5},
          {"topic", with({{"tasks", "topic"}, {"steps", half}})},
          {"documents", with({{"tasks", "documents"}})},
          {"rope", with({{"encoding", "rope"}})},
          {"alibi", with({{"encoding", "alibi:mode=differences"}})},
          {"learned", with({{"encoding", "learned"}})},
          {"lm", s.lm}};
}

std::string Results::run(const std::string& model, int seed) const {
  return fmt::format("{}/runs/{}-{}", folder_, model, seed);
}
std::string Results::aligned(const Test& t, int seed) const {
  return fmt::format("{}/aligned/{}-{}/{}.json", folder_, t.model, seed, word_of(t));
}
std::string Results::test(const Test& t, int seed) const {
  return is_aligned(t.mode) ? fmt::format("{}/tests/{}-{}/{}.csv", folder_, t.model, seed, word_of(t))
                            : run(t.model, seed) + "/eval.csv";
}

BySeed Results::accuracy(const Test& t, int length, int part) const {
  BySeed all;
  for (int seed = 0; seed < setup_.seeds; ++seed) {
    const std::string path = test(t, seed);
    if (!fs::exists(path)) continue;
    for (const t5::AtLength& at : t5::read_csv(path))
      if (at.task == choose_retrieval(t.task).thing.name && at.length == length) {
        const double x = part < 0 ? at.accuracy : at.accuracy_of_place[part];
        if (!std::isnan(x)) all[seed] = x;
      }
  }
  return all;
}

BySeed Results::loss(const Test& t, int length) const {
  BySeed all;
  for (int seed = 0; seed < setup_.seeds; ++seed) {
    const std::string path = test(t, seed);
    if (!fs::exists(path)) continue;
    for (const language::AtLength& at : language::read_csv(path))
      if (!at.repeated && at.length == length) all[seed] = at.loss;
  }
  return all;
}

const json& Results::alignment(const std::string& path) const {
  if (!read_.count(path)) {
    read_alignment(path);  // throws for what `poslab align` did not write
    read_[path] = json::parse(read_file(path));
  }
  return read_.at(path);
}

BySeed Results::figure(const Test& t, int length, const std::string& name, bool first_layer) const {
  BySeed all;
  for (int seed = 0; seed < setup_.seeds; ++seed) {
    const std::string path = aligned(t, seed);
    if (!fs::exists(path)) continue;
    const auto take = [&](const json& at) {
      const json& x = at.at(name).at(first_layer ? 1 : 0);
      if (x.is_number()) all[seed] = x;
    };
    const json& a = alignment(path);
    if (length == 0) take(a.at("short").at("measured"));
    for (const json& one : a.at("long"))
      if (one.at("length") == length) take(one.at("before"));
  }
  return all;
}

BySeed Results::temperature(const Test& t, int length) const {
  BySeed all;
  for (int seed = 0; seed < setup_.seeds; ++seed)
    if (const std::string path = aligned(t, seed); fs::exists(path))
      for (const json& one : alignment(path).at("long"))
        if (one.at("length") == length) all[seed] = one.at("temperature").at(0);
  return all;
}

std::unique_ptr<ByCommands> source(const CommandRequest& r) { return std::make_unique<Source>(r); }

}  // namespace poslab::reproduce::chi2023
