#include "lab/pages/report/tested_run.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <system_error>

#include "core/error.h"
#include "lab/files/shell.h"
#include "lab/hub/hf_model.h"
#include "lab/runs/other_test.h"
#include "lab/runs/run_folder.h"
#include "lab/runs/sweep/sweep.h"

namespace poslab::report {
namespace {

namespace fs = std::filesystem;
using namespace sweep;

bool is_run(const fs::path& folder) {
  std::error_code error;
  return fs::exists(folder / "config.toml", error);
}

// Whether a file of JSON lines is the log of a run or sweep, and not a plan.
bool is_a_log(const fs::path& path) {
  const fs::path name = path.filename();
  return name == "metrics.jsonl" || name == "tests.jsonl" || name == "clock.jsonl" ||
         name == fs::path(SweepFolder("").journal()).filename();
}

class Finder {
 public:
  Inputs found;

  void word(const std::string& text) {
    const fs::path path(text);
    if (!fs::exists(path)) {
      const std::string ending = path.extension();
      const bool page = ending == ".html" || ending == ".svg" || ending == ".pdf" || ending == ".png";
      bad_input("report: there is no run folder \"{}\"{}", text,
                page                                  ? fmt::format("; use -o {} to write to it", text)
                : text.find('*') != std::string::npos ? "; leave out the quotes: the shell expands it"
                : text.find(',') != std::string::npos ? "; separate runs by spaces, not commas"
                                                      : run_near(text));
    }
    if (path.extension() == ".jsonl" && fs::is_regular_file(path) && !is_a_log(path)) return trials(find_sweep(text));
    if (!fs::is_directory(path))
      return pass(fmt::format("{} is a file, not a run folder{}", text,
                              is_run(path.parent_path()) ? "; name " + path.parent_path().string() : ""));
    if (is_run(path)) return run(text);
    if (is_hf_folder(text)) return checkpoint(text);
    if (fs::exists(kept_plan(text))) return trials(find_sweep(text));
    const std::vector<fs::path> inside = folders_in(path);
    if (std::none_of(inside.begin(), inside.end(), is_run))
      return pass(fmt::format("{} has no config.toml; is it the folder of a run?", text));
    for (const fs::path& folder : inside)
      if (is_run(folder)) run(folder.string());
  }

 private:
  // An external checkpoint, with its kept tests.
  void checkpoint(const std::string& text) {
    if (other_tests(text).empty())
      pass(
          fmt::format("{0} is a checkpoint of Hugging Face's form, but no test of it is kept; `poslab lm eval --hf {0} "
                      "--name NAME` keeps one",
                      text));
    else if (seen_.insert(fs::weakly_canonical(text).string()).second)
      found.runs.push_back(text);
  }

  void pass(const std::string& why) { found.passed.push_back(why); }

  void run(std::string folder) {
    while (folder.size() > 1 && folder.back() == '/') folder.pop_back();
    const Kind& kind = kind_of_folder(folder);
    if (const std::string missing = missing_of_test(folder, kind); !missing.empty())
      pass(fmt::format("{} has no {}; finish it with `poslab {} {}`", folder, missing, kind.command("resume"),
                       shell_path(folder)));
    else if (seen_.insert(fs::weakly_canonical(folder).string()).second)
      found.runs.push_back(folder);
  }

  void trials(const PlacedPlan& sweep) {
    const auto& [plan, path] = sweep;
    const SweepFolder folder(path);
    std::vector<TrialState> missing;
    size_t restored = 0;
    const std::vector<TrialState> all = states(plan, folder);
    for (size_t i = 0; i < plan.size(); ++i)
      if (all[i] != TrialState::done) missing.push_back(all[i]);
      else if (!is_run(folder.run(plan[i]))) ++restored;
      else run(folder.run(plan[i]));
    if (restored)
      pass(fmt::format("of the {} trials of {}, {} came from a file of --kept, which has no runs; `poslab sweep "
                       "collect` has their numbers",
                       plan.size(), path, restored));
    if (!missing.empty())
      pass(fmt::format("not all {} trials of {} are done: {}", plan.size(), path, to_string(count(missing))));
  }

  std::set<std::string> seen_;
};

}  // namespace

Inputs find_runs(const std::vector<std::string>& words) {
  if (words.empty()) bad_input("report: no run folder was named; try `poslab report runs/r1 runs/r2 -o report.html`");
  Finder finder;
  for (const std::string& word : words) finder.word(word);
  if (finder.found.runs.empty()) bad_input("report: {}", fmt::join(finder.found.passed, "; "));
  return finder.found;
}

}  // namespace poslab::report
