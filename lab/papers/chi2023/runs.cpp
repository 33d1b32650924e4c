// Training, aligning and testing what the tables need.
#include <fmt/ranges.h>

#include <filesystem>
#include <set>

#include "experiment/language/options.h"
#include "experiment/t5/options.h"
#include "lab/files/files.h"
#include "lab/files/shell.h"
#include "lab/papers/chi2023/chi2023.h"

namespace poslab::reproduce::chi2023 {
namespace {
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

const Kind& kind(const std::string& model) { return is_language(model) ? language_kind() : t5_kind(); }

// Lengths in tokens beyond the trained one.
std::vector<int> longer(const Setup& s, const std::string& model) {
  if (!is_language(model)) return s.longer();
  const Choices c = language::configure(s.lm);
  return beyond(c.whole("train_length"), language::eval_lengths(c));
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
                 "--mode=" + word_of(t.mode),
                 fmt::format("--short={}", shortest(s, t.model)),
                 fmt::format("--long={}", fmt::join(longer(s, t.model), ",")),
                 fmt::format("--samples={}", aligned_samples),
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
  Section draw(const Artifact& a) const override { return drawing(a).draw(results); }
  std::string how() const override;
};

std::vector<Chain> Source::chains(const std::vector<const Artifact*>& artifacts) const {
  const Setup& s = results.setup();
  std::vector<Test> all;
  for (const Artifact* a : artifacts)
    if (const Drawing& d = drawing(*a); d.tests)
      for (const Test& t : d.tests(s)) all.push_back(t);
  std::vector<Chain> chains;
  for (int seed = 0; seed < s.seeds; ++seed)
    for (const Model& model : models(s)) {
      const std::string run = results.run(model.name, seed), of_threads = fmt::format("--threads={}", threads);
      const Settings settings = joined(model.settings, {{"seed", fmt::format("{}", seed)}});
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
        if (t.mode == Mode::original) continue;
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
      "each task and length in a test, and {} in an alignment.",
      counted(size_t(s.seeds), "seed"), c["layers"], c["decoder_layers"], c["d_model"], c["steps"], c["tokens"],
      c["train_length"], c["eval_samples"], aligned_samples);
}

}  // namespace

std::unique_ptr<ByCommands> source(const CommandRequest& r) { return std::make_unique<Source>(r); }

}  // namespace poslab::reproduce::chi2023
