#include "apps/reproduce.h"

#include <fmt/ranges.h>

#include <filesystem>
#include <memory>
#include <set>

#include "core/error.h"
#include "lab/files.h"
#include "lab/interrupt.h"
#include "lab/reproduce/reproduce.h"
#include "lab/shell.h"
#include "lab/sweep/sweep.h"

namespace poslab {
namespace {

using namespace sweep;

struct Words {
  reproduce::Request request;
  std::vector<std::string> sets;
  std::string out;
  int jobs = 1, threads = 0;
  bool only_plan = false, only_draw = false, retry = false;
};

// KEY=VALUE, where VALUE is as in a sweep's TOML; quotes around a word may be left out.
ValueLists setting(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) bad_input("--set {} is not KEY=VALUE; write it as in --set steps=2000", text);
  const std::string key = text.substr(0, equals);
  std::string value = text.substr(equals + 1);
  const bool owned = key != "seeds" && std::holds_alternative<Option>(option(key).field);
  for (const char* studied : {"preset", "task", "encoding", "positions", "resample", "test_every"})
    if (key == studied || owned)
      bad_input(
          "--set {}: each table and figure says for itself which; choose among them with --size, --tasks, --encodings",
          text);
  if (value.find('[') != std::string::npos && key != "lr" && key != "seed")
    bad_input(
        "--set {}: only lr and seed may be lists, as a table has one row for all of theirs; use `poslab sweep` for "
        "others",
        text);
  const bool word = key != "seeds" && std::holds_alternative<std::string Config::*>(option(key).field);
  const bool lengths = key != "seeds" && std::holds_alternative<Lengths Config::*>(option(key).field);
  if ((word || lengths) && value.find_first_of("\"[") == std::string::npos) value = '"' + value + '"';
  if (value == "on") value = "true";
  if (value == "off") value = "false";
  return read_lists(fmt::format("{} = {}", key, value), "--set " + text);
}

// As it would be typed again.
std::string command(const Words& w) {
  std::string text = fmt::format("poslab reproduce {} --size {}", fmt::join(w.request.what, " "), w.request.size);
  if (!w.request.tasks.empty()) text += fmt::format(" --tasks {}", fmt::join(w.request.tasks, ","));
  if (!w.request.encodings.empty()) text += fmt::format(" --encodings {}", fmt::join(w.request.encodings, ","));
  for (const std::string& s : w.sets) text += " --set " + shell_word(s);
  return text + " --out " + shell_word(w.out);
}

void list_artifacts() {
  std::string source;
  for (const reproduce::Artifact& e : reproduce::all_artifacts()) {
    if (const std::string of = source_title(e); of != source) fmt::print("{}:\n", source = of);
    fmt::print("{:<18}  {}\n", e.name, e.title);
  }
  fmt::print("\n");
  for (const reproduce::Size& s : reproduce::all_sizes()) fmt::print("{:<18}  {}\n", "--size " + s.name, s.summary);
}

// FOLDER/plan.jsonl, which Slurm's tasks read whenever they start: it never loses a trial.
void keep_plan(const Plan& all, const std::string& path, const SweepFolder& runs) {
  make_folder(runs.path());
  if (all.empty()) return;
  const Claim alone = reproduce::one_at_a_time(runs);
  const std::string lines = plan_lines(all);
  if (std::filesystem::exists(path)) {
    std::set<std::string> ids;
    for (const Trial& t : all) ids.insert(t.id);
    for (const Trial& t : read_plan(path))
      if (!ids.count(t.id))
        bad_input("{} is the plan of other tables or another size; choose another --out, or draw those with --draw",
                  path);
  }
  if (!std::filesystem::exists(path) || read_file(path) != lines) write_file(path, lines);
}

void make(Words w) {
  if (w.request.what.empty()) return list_artifacts();
  for (const std::string& s : w.sets) w.request.settings = overlaid(std::move(w.request.settings), setting(s));
  const std::vector<reproduce::Planned> planned = reproduce::plan(w.request);
  if (w.out.empty()) bad_input("which folder shall it be kept in? Say --out FOLDER");
  const Plan all = reproduce::all_trials(planned);
  if (w.only_plan && all.empty())
    bad_input("{} takes no runs, so there is nothing to plan; leave out --plan", fmt::join(w.request.what, " "));
  const SweepFolder runs(w.out + "/runs");
  const std::string plan = w.out + "/plan.jsonl";
  if (w.only_draw) {
    if (!std::filesystem::is_directory(runs.path()))
      bad_input("there is no folder {}; do the runs first, without --draw", runs.path());
  } else {
    keep_plan(all, plan, runs);
  }
  if (w.only_plan) {
    fmt::print(
        "{}: {}; do them with\n  poslab sweep run {} --out {}\nor `poslab sweep submit`, and draw them with\n"
        "  {} --draw\n",
        plan, counted(all.size(), "trial"), shell_word(plan), shell_word(runs.path()), command(w));
    return;
  }
  Counts counts;
  if (!w.only_draw && !all.empty()) counts = count(run_shard(all, runs, {{}, w.jobs, w.threads, w.retry}));
  catch_signals();
  const std::string summary = reproduce::write(planned, w.request, w.out, command(w));
  fmt::print("{}{}{}/index.html, README.md and a .csv for each table and figure\n", summary,
             summary.empty() ? "" : "\n", w.out);
  if (const int failed = counts[TrialState::failed] + counts[TrialState::impossible])
    failure("{} failed or impossible; {}/README.md says why, and --retry tries failed ones again",
            counted(size_t(failed), "trial"), w.out);
}

const char* footer = R"(
Without arguments it lists what there is: the tables and figures of a paper, ruoss2023, and of an experiment of poslab's
own, gap_shift. The trials are a sweep in FOLDER/runs. The same command goes on where it was stopped. Tables and figures
that need the same runs share them, and several machines that share FOLDER may work at once. They are drawn from what is
done, and say what is missing. The paper's size is for a cluster:

  poslab reproduce ruoss2023:all --size paper --out /shared/ruoss2023 --plan
  poslab sweep submit /shared/ruoss2023/plan.jsonl --out /shared/ruoss2023/runs --slurm --shards 200 --time 24:00:00
  poslab reproduce ruoss2023:all --size paper --out /shared/ruoss2023 --draw

Examples:
  poslab reproduce ruoss2023 --size tiny --out runs/ruoss2023-tiny --jobs 2
  poslab reproduce gap_shift --size tiny --out runs/gap_shift-tiny --jobs 2
  poslab reproduce ruoss2023:table1 --size example --tasks even_pairs --encodings relative,rope --out runs/table1)";

}  // namespace

std::function<void()> add_reproduce(CLI::App* c) {
  const auto w = std::make_shared<Words>();
  const auto range = [](int most) { return CLI::Range(1, most).description(""); };  // the type's name says it
  w->request.size = "tiny";
  c->footer(footer);
  c->allow_extras();
  c->add_option("what", w->request.what,
                "ruoss2023 | gap_shift  (all of it), or some of its tables and figures: ruoss2023:table1, ...");
  c->add_option("--size", w->request.size, "size of the models and of their training (tiny)")
      ->type_name("tiny | example | paper");
  c->add_option("-o,--out", w->out, "the folder to make, or to go on with")->type_name("FOLDER");
  c->add_option("--tasks", w->request.tasks, "only these tasks, with commas between")
      ->type_name("NAME")
      ->delimiter(',');
  c->add_option("--encodings", w->request.encodings, "only these encodings, with commas between")
      ->type_name("NAME")
      ->delimiter(',');
  c->add_option("--set", w->sets,
                "an option of every run, in place of the size's; may be repeated; lr and seed take lists")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  c->add_option("--jobs", w->jobs, "trials at once (1)")->type_name("1 .. 1024")->check(range(1024));
  c->add_option("--threads", w->threads,
                "threads of each trial (the cores divided by the jobs); they never change a result")
      ->type_name("1 .. 256")
      ->check(range(256));
  c->add_flag("--retry", w->retry, "try failed trials again");
  CLI::Option* only_plan = c->add_flag("--plan", w->only_plan, "only write FOLDER/plan.jsonl");
  c->add_flag("--draw", w->only_draw, "only draw what is done")->excludes(only_plan);
  return [=] { make(*w); };
}

}  // namespace poslab
