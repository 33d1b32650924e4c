#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "apps/all_commands.h"
#include "apps/artifacts.h"
#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/shell.h"
#include "lab/papers/models.h"
#include "lab/papers/python.h"

namespace poslab {
namespace {

struct ReproduceWords : Making {
  reproduce::Request request;
};

// These words as a command line.
std::string command(const ReproduceWords& w) {
  std::string text = fmt::format("poslab reproduce {} --size {}", fmt::join(w.request.what, " "), w.request.size);
  if (!w.request.tasks.empty()) text += fmt::format(" --tasks {}", fmt::join(w.request.tasks, ","));
  if (!w.request.encodings.empty()) text += fmt::format(" --encodings {}", fmt::join(w.request.encodings, ","));
  return text + words_again(w);
}

void list_artifacts() {
  std::string source;
  for (const reproduce::Artifact& e : reproduce::all_artifacts()) {
    if (const std::string of = source_title(e); of != source) fmt::print("{}:\n", source = of);
    fmt::print("{:<18}  {}\n", e.name, e.title);
  }
  fmt::print("\n");
  for (const reproduce::Size& s : reproduce::all_sizes()) fmt::print("{:<18}  {}\n", "--size " + s.name, s.summary);
  for (const auto& [of, remark] : {std::pair{"su2023", ""}, {"chi2023", ", except its cross"}}) {
    fmt::print("\nSizes of {}{}:\n", of, remark);
    for (const reproduce::ModelSize& s : reproduce::sizes_of(of))
      fmt::print("{:<18}  {}\n", "--size " + s.name, s.summary);
  }
}

// Writes a plan of the runs for each kind of model. A plan's file has no tests: the command without --plan makes
// them.
void plan_models(const ReproduceWords& w, const std::vector<sweep::Plan>& plans, const sweep::SweepFolder& runs) {
  if (plans.empty())
    bad_input("{} needs no runs, so there is nothing to plan; leave out --plan", fmt::join(w.request.what, " "));
  for (const sweep::Plan& plan : plans) {
    const std::string kind = sweep::kind_of(plan).word,
                      path = fmt::format("{}/plan-{}.jsonl", w.out, kind.substr(0, kind.find(' ')));
    keep_plan(plan, path, runs);
    fmt::print("{}: {}; train them with\n  poslab sweep run {} --out {}\n", path, counted(plan.size(), "model"),
               shell_path(path), shell_path(runs.path()));
  }
  fmt::print("or `poslab sweep submit`, then test and draw them with\n  {}\n", command(w));
}

// A source that is not a sweep of tasks: a few models are trained, and each is tested many times.
void make_models(const ReproduceWords& w, const std::vector<const reproduce::Artifact*>& all) {
  using namespace reproduce;
  const std::string name = fmt::format("{}", fmt::join(w.request.what, " "));
  if (!w.request.tasks.empty() || !w.request.encodings.empty())
    bad_input("{} takes neither --tasks nor --encodings; choose among its tables, as in {}", name, all[0]->name);
  for (const Artifact* a : all)
    if (a->models != all[0]->models)
      bad_input("{} and {} have two sources, each with its own runs; ask for one at a time", all[0]->name, a->name);
  const ModelSource source = all[0]->models({w.request.size, w.sets, w.out});
  if (w.out.empty()) bad_input("which folder should hold the results? Give --out FOLDER");
  check_figures(w);
  check_output_folder("--out", w.out, "README.md", earlier_artifacts());
  const SweepFolder runs(w.out + "/runs");
  const std::vector<Plan> plans = source.plans(all);
  if (!w.kept.empty())
    for (const Plan& plan : plans) restore(plan, runs, w.kept);
  if (w.only_plan) return plan_models(w, plans, runs);
  if (w.only_draw && !plans.empty() && !std::filesystem::is_directory(runs.path()))
    bad_input("there is no folder {}; do the runs first, without --draw", runs.path());
  const std::string python = python_for_papers();
  check_replaceable(w.out + "/kept.jsonl", plans, runs);
  make_folder(runs.path());
  const int failed = w.only_draw ? 0 : run_models(plans, runs, w.jobs, w.threads);
  catch_signals();
  const std::string summary = write(all, source, w.request.size, w.out, command(w), w.figures, python);
  say_what_is_drawn(w, summary);
  if (failed) failure("{} failed; the same command tries the missing ones again", counted(size_t(failed), "run"));
}

void make_artifacts(ReproduceWords w) {
  if (w.request.what.empty()) return list_artifacts();
  if (const auto all = reproduce::artifacts(w.request.what);
      std::all_of(all.begin(), all.end(), [](auto* a) { return a->models; }))
    return make_models(w, all);
  w.request.settings = settings(w);
  const std::vector<reproduce::Planned> planned = reproduce::plan(w.request);
  make(planned, reproduce::all_trials(planned), w.request, w, fmt::format("{}", fmt::join(w.request.what, " ")),
       command(w));
}

}  // namespace

std::function<void()> add_reproduce(CLI::App* c) {
  const auto w = std::make_shared<ReproduceWords>();
  w->request.size = "tiny";
  c->allow_extras();
  c->add_option("what", w->request.what,
                "ruoss2023 | gap_shift | ladder | chi2023 | su2023  (all of each), or parts: ruoss2023:table1, ...");
  c->add_option("--size", w->request.size, "size of the models and of their training (tiny)")
      ->type_name("tiny | example | paper");
  c->add_option("--tasks", w->request.tasks, "only these tasks, with commas between")
      ->type_name("NAME")
      ->delimiter(',');
  c->add_option("--encodings", w->request.encodings, "only these encodings, with commas between")
      ->type_name("NAME")
      ->delimiter(',');
  add_making(c, *w);
  return [=] {
    const std::vector<const CLI::Option*> all = std::as_const(*c).get_options();
    for (const CLI::Option* o : all)
      if (w->request.what.empty() && o->count())
        bad_input(
            "which tables and figures? {} alone chooses none; name them, as in `poslab reproduce "
            "ruoss2023 --out FOLDER`; `poslab reproduce` alone lists them",
            o->get_name());
    make_artifacts(*w);
  };
}

}  // namespace poslab
