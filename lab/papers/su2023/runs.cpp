// Training and testing what the tables need, and reading what is there.
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"
#include "lab/papers/su2023/su2023.h"
#include "lab/runs/config_toml.h"

namespace poslab::reproduce::su2023 {
namespace {
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

// Tokens that pass through the model; a training step counts for three.
double training_work(const Choices& c) { return 3. * c.whole("steps") * c.whole("batch") * c.whole("train_length"); }
double test_work(const Choices& c) {
  double all = 0;
  for (const int length : language::eval_lengths(c)) all += 2. * c.whole("eval_samples") * length;
  return all;
}

std::vector<Method> methods(const std::vector<const Artifact*>& artifacts, const Setup& s) {
  std::vector<Method> all;
  std::set<std::pair<std::string, std::string>> seen;
  for (const Artifact* a : artifacts)
    if (const Drawing& d = drawing(*a); d.methods)
      for (const Method& m : d.methods(s))
        if (seen.emplace(m.model, m.name).second) all.push_back(m);
  return all;
}

bool as_trained(const Method& m) { return m.encoding.empty() && m.temperature.empty(); }

}  // namespace

const Drawing& drawing(const Artifact& a) {
  static const std::map<std::string, Drawing> all = {{"su2023:main", {main_methods, main_table}},
                                                     {"su2023:window", {window_methods, window_table}},
                                                     {"su2023:leaky", {leaky_methods, leaky_table}},
                                                     {"su2023:llama", {llama_methods, llama_table}},
                                                     {"su2023:methods", {untrained_methods, untrained_table}},
                                                     {"su2023:trained", {trained_methods, trained_table}},
                                                     {"su2023:lengths", {length_methods, lengths_figure}},
                                                     {"su2023:matrices", {nullptr, matrices_figure}},
                                                     {"su2023:claims", {claim_methods, claims_list}}};
  return all.at(a.name);
}

std::string Results::run(const std::string& model, int seed) const {
  return fmt::format("{}/runs/{}-{}", folder_, model, seed);
}

std::string Results::test(const Method& m, int seed) const {
  if (as_trained(m)) return run(m.model, seed) + "/eval.csv";
  return fmt::format("{}/tests/{}-{}/{}.csv", folder_, m.model, seed, m.name);
}

BySeed Results::value(const Method& m, int times, bool repeated, const char* what) const {
  BySeed all;
  for (int seed = 0; seed < setup_.seeds; ++seed) {
    const std::string path = test(m, seed);
    if (!read_.count(path)) {
      if (!fs::exists(path)) continue;
      read_[path] = read_results(path, language_kind());
    }
    for (const poslab::Row& at : only(read_.at(path), "set", repeated ? "repeated" : "plain"))
      if (at.length() == times * setup_.length()) all[seed] = at[what];
  }
  return all;
}

BySeed Results::accuracy(const Method& m, int times, bool repeated) const {
  return value(m, times, repeated, "accuracy");
}
BySeed Results::loss(const Method& m, int times) const { return value(m, times, false, "loss"); }

std::vector<Chain> chains(const std::vector<const Artifact*>& artifacts, const Results& results, int threads) {
  const Setup& s = results.setup();
  const std::vector<Method> tested = methods(artifacts, s);
  const std::string of_threads = fmt::format("--threads={}", threads);
  std::vector<Chain> all;
  for (int seed = 0; seed < s.seeds; ++seed)
    for (const Model& model : models(s)) {
      if (std::none_of(tested.begin(), tested.end(), [&](auto& m) { return m.model == model.name; })) continue;
      const Settings settings = joined(model.settings, {{"seed", fmt::format("{}", seed)}});
      const std::string run = results.run(model.name, seed);
      const Choices c = language::configure(settings);
      Chain chain{fmt::format("{}-{}", model.name, seed),
                  {training(language_kind(), settings, run, threads, training_work(c) + test_work(c))}};
      for (const Method& m : tested) {
        if (m.model != model.name || as_trained(m)) continue;
        const std::string file = results.test(m, seed);
        chain.steps.push_back({m.name,
                               [=] {
                                 make_folder(fs::path(file).parent_path());
                                 Words words = {"lm", "eval", run, "--out=" + file, of_threads};
                                 if (!m.encoding.empty()) words.push_back("--encoding=" + m.encoding);
                                 if (!m.temperature.empty()) words.push_back("--temperature=" + m.temperature);
                                 return words;
                               },
                               file, test_work(c)});
      }
      all.push_back(std::move(chain));
    }
  return all;
}

namespace {

struct Source : ByCommands {
  Results results;
  int threads;
  explicit Source(const CommandRequest& r) : results(su2023::setup(r.size, r.sets), r.folder), threads(r.threads) {}
  std::vector<Chain> chains(const std::vector<const Artifact*>& all) const override {
    return su2023::chains(all, results, threads);
  }
  Section draw(const Artifact& a) const override { return drawing(a).draw(results); }
  std::string how() const override { return su2023::how(results); }
};

}  // namespace

std::unique_ptr<ByCommands> source(const CommandRequest& r) { return std::make_unique<Source>(r); }

}  // namespace poslab::reproduce::su2023
