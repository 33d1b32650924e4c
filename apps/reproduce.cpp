#include "apps/all_commands.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <memory>

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

// In the form of a command line.
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
  for (const auto& [of, remark] : {std::pair{"su2023", ""}, {"chi2023", ", but its cross"}}) {
    fmt::print("\nOf {}{}:\n", of, remark);
    for (const reproduce::ModelSize& s : reproduce::sizes_of(of))
      fmt::print("{:<18}  {}\n", "--size " + s.name, s.summary);
  }
}

// Plans the trainings alone, a plan for each kind of model, as a plan's file has no tests. The command without --plan
// runs the tests.
void plan_models(const ReproduceWords& w, const std::vector<sweep::Plan>& plans, const sweep::SweepFolder& runs) {
  if (plans.empty())
    bad_input("{} takes no runs, so there is nothing to plan; leave out --plan", fmt::join(w.request.what, " "));
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
    bad_input("{} has neither --tasks nor --encodings; choose among its tables, as in {}", name, all[0]->name);
  for (const Artifact* a : all)
    if (a->models != all[0]->models)
      bad_input("{} and {} are of two sources with runs of their own; ask for one at a time", all[0]->name, a->name);
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
  if (failed) failure("{} failed; the same command tries again what is missing", counted(size_t(failed), "run"));
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

const char* reproduce_footer = R"(
Without arguments it lists what there is: the tables and figures of three sources, ruoss2023, chi2023 and su2023, and
of two experiments of poslab's own, gap_shift and ladder. The trials are a sweep in FOLDER/runs. The same command goes
on where it was stopped. Tables and figures that need the same runs share them, and several machines that share FOLDER
may work at once. They are drawn from what is done, and say what is missing. su2023 trains a few language models, and
tests each with many encodings; its --set takes the options of `poslab lm train`, and seeds=N. chi2023 trains a small
T5 and aligns it; its --set takes those of `poslab t5 train`, lm_KEY of `poslab lm train`, and seeds=N. chi2023:cross
is a sweep, and asked for by its name. The paper's size is for a cluster:

  poslab reproduce ruoss2023:all --size paper --out /shared/ruoss2023 --plan
  poslab sweep submit /shared/ruoss2023/plan.jsonl --out /shared/ruoss2023/runs --slurm --shards 200 --time 24:00:00
  poslab reproduce ruoss2023:all --size paper --out /shared/ruoss2023 --draw

Of su2023 and chi2023, --plan writes plan-lm.jsonl and plan-t5.jsonl: models to be trained in the same way, which the
command without --plan then tests and draws.

Examples:
  poslab reproduce ruoss2023 --size tiny --out runs/ruoss2023-tiny --jobs 2
  poslab reproduce gap_shift --size tiny --out runs/gap_shift-tiny --jobs 2
  poslab reproduce su2023 --size tiny --out runs/su2023-tiny --jobs 2
  poslab reproduce chi2023 --size tiny --out runs/chi2023-tiny --jobs 2
  poslab reproduce chi2023:cross --size tiny --out runs/cross-tiny --jobs 2
  poslab reproduce ruoss2023:table1 --size example --tasks even_pairs --encodings relative,rope --out runs/table1)";

}  // namespace

std::function<void()> add_reproduce(CLI::App* c) {
  const auto w = std::make_shared<ReproduceWords>();
  w->request.size = "tiny";
  c->footer(reproduce_footer);
  c->allow_extras();
  c->add_option("what", w->request.what,
                "ruoss2023 | gap_shift | ladder | chi2023 | su2023  (all of it), or some of it: ruoss2023:table1, ...");
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
        bad_input("which tables and figures? {} alone chooses none; name them, as in `poslab reproduce "
                  "ruoss2023 --out FOLDER`; `poslab reproduce` alone lists them", o->get_name());
    make_artifacts(*w);
  };
}

}  // namespace poslab
