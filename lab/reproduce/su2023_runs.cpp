// Training and testing what the tables need, and reading what is there.
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "core/error.h"
#include "lab/config_toml.h"
#include "lab/files.h"
#include "lab/reproduce/reproduce.h"
#include "lab/reproduce/su2023.h"
#include "lab/shell.h"

namespace poslab::reproduce::su2023 {
namespace {
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

language::Settings seeded(const Model& m, int seed) {
  language::Settings all = m.settings;
  all.emplace_back("seed", fmt::format("{}", seed));
  return all;
}

void must_be_begun_with(const language::Settings& settings, const std::string& run) {
  const std::string path = run + "/config.toml";
  if (!fs::exists(path)) return;
  const language::Settings then = kept(language::all_choices(), language::configure(read_toml(read_file(path), path, RunKind::language))),
                           now = kept(language::all_choices(), language::configure(settings));
  for (size_t n = 0; n < now.size(); ++n)
    if (then[n] != now[n])
      bad_input("{} was begun with {} = {}, and now it would be {}; choose another --out", run, then[n].first,
                then[n].second, now[n].second);
}

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
    if (a->methods)
      for (const Method& m : a->methods(s))
        if (seen.emplace(m.model, m.name).second) all.push_back(m);
  return all;
}

bool as_trained(const Method& m) { return m.encoding.empty() && m.temperature.empty(); }

}  // namespace

std::string Results::run(const std::string& model, int seed) const {
  return fmt::format("{}/runs/{}-{}", folder_, model, seed);
}

std::string Results::test(const Method& m, int seed) const {
  if (as_trained(m)) return run(m.model, seed) + "/eval.csv";
  return fmt::format("{}/tests/{}-{}/{}.csv", folder_, m.model, seed, m.name);
}

BySeed Results::value(const Method& m, int times, bool repeated, double language::AtLength::*what) const {
  BySeed all;
  for (int seed = 0; seed < setup_.seeds; ++seed) {
    const std::string path = test(m, seed);
    if (!read_.count(path)) {
      if (!fs::exists(path)) continue;
      read_[path] = language::read_csv(path);
    }
    for (const language::AtLength& at : read_.at(path))
      if (at.length == times * setup_.length() && at.repeated == repeated) all[seed] = at.*what;
  }
  return all;
}

BySeed Results::accuracy(const Method& m, int times, bool repeated) const {
  return value(m, times, repeated, &language::AtLength::accuracy);
}
BySeed Results::loss(const Method& m, int times) const { return value(m, times, false, &language::AtLength::loss); }

std::vector<Chain> chains(const std::vector<const Artifact*>& artifacts, const Results& results, int threads) {
  const Setup& s = results.setup();
  const std::vector<Method> tested = methods(artifacts, s);
  const std::string of_threads = fmt::format("--threads={}", threads);
  std::vector<Chain> all;
  for (int seed = 0; seed < s.seeds; ++seed)
    for (const Model& model : models(s)) {
      if (std::none_of(tested.begin(), tested.end(), [&](auto& m) { return m.model == model.name; })) continue;
      const language::Settings settings = seeded(model, seed);
      const std::string run = results.run(model.name, seed);
      must_be_begun_with(settings, run);
      const Choices c = language::configure(settings);
      const auto train = [=] {
        if (fs::exists(run)) return Words{"lm", "resume", run, of_threads};
        Words words = {"lm", "train", "--out=" + run, of_threads};
        for (const auto& [name, value] : settings) words.push_back(dashed(name) + "=" + value);
        return words;
      };
      Chain chain{fmt::format("{}-{}", model.name, seed),
                  {{"training", train, run + "/eval.csv", training_work(c) + test_work(c)}}};
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

std::string standing(const std::vector<Chain>& all) {
  size_t runs = 0, tests = 0, tests_done = 0;
  for (const Chain& c : all)
    for (const Step& s : c.steps) {
      const bool training = &s == &c.steps.front();
      runs += training && is_done(s), tests += !training, tests_done += !training && is_done(s);
    }
  return all.empty() ? ""
                     : fmt::format("{} of {} runs are trained, and {} of {} further tests done.", runs, all.size(),
                                   tests_done, tests);
}

}  // namespace

std::string write(const std::vector<const Artifact*>& artifacts, const Results& results, const std::string& folder,
                  const std::string& command) {
  const SweepFolder runs(folder + "/runs");
  const Claim alone = one_at_a_time(runs);
  Page page(folder);
  for (const Artifact* a : artifacts) {
    Section section;
    try {
      section = a->of_language(results);
    } catch (const std::exception& e) { section.notes = {fmt::format("This could not be drawn: {}", e.what())}; }
    if (a->methods) section.notes.push_back(how(results) + " " + standing(chains({a}, results, 1)));
    page.add(*a, section);
  }
  const std::string summary = standing(chains(artifacts, results, 1));
  page.write(results.setup().size, summary, command);
  return summary;
}

}  // namespace poslab::reproduce::su2023
