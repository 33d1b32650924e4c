#include "apps/artifacts.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "apps/commands.h"
#include "apps/number_option.h"
#include "core/error.h"
#include "core/names.h"
#include "core/platform/parallel.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/pages/page/print.h"
#include "lab/papers/python.h"
#include "lab/runs/room.h"

namespace poslab {
namespace {

using namespace sweep;

// KEY=VALUE, with VALUE as in a sweep's TOML, where quotes around a word are optional.
ValueLists setting(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == std::string::npos) bad_input("--set {} is not KEY=VALUE; write it as in --set steps=2000", text);
  const std::string key = text.substr(0, equals);
  std::string value = text.substr(equals + 1);
  const Option* const o = key == "seeds" ? nullptr : &option(key);
  for (const char* studied : {"preset", "task", "encoding", "positions", "resample", "test_every"})
    if (key == studied)
      bad_input(
          "--set {}: tables and figures set it themselves; choose with --size, --tasks or --encodings", text);
  if (value.find('[') != std::string::npos && key != "lr" && key != "seed")
    bad_input(
        "--set {}: only lr and seed may be lists, whose values share a row of the tables; use `poslab sweep` for "
        "others",
        text);
  if (o && (o->kind == Option::Kind::word || o->kind == Option::Kind::lengths) &&
      value.find_first_of("\"[") == std::string::npos)
    value = '"' + value + '"';
  if (value == "on") value = "true";
  if (value == "off") value = "false";
  if (value.find(',') != std::string::npos && value.find_first_of("\"[") == std::string::npos)
    bad_input("--set {}: a list has brackets; use --set {}", text, shell_word(fmt::format("{}=[{}]", key, value)));
  return read_lists(fmt::format("{} = {}", key, value), "--set " + text);
}

int threads_of_each(const Making& m) { return m.threads ? m.threads : std::max(1, threads() / m.jobs); }

// Trials still to do.
std::vector<Choices> left_of(const Plan& trials, const SweepFolder& runs) {
  const std::vector<TrialState> all = states(trials, runs);
  std::vector<Choices> left;
  for (size_t i = 0; i < trials.size(); ++i)
    if (all[i] != TrialState::done && trials[i].impossible.empty()) left.push_back(trials[i].config());
  return left;
}

double seconds_of(const std::vector<Choices>& left, const Making& m) {
  double seconds = 0;
  for (const Choices& c : left) seconds += estimated_seconds(RunSpec(c), threads_of_each(m)) / m.jobs;
  return seconds;
}

// "816 trials, 12 of them done; the others take about 3:10:00 with 2 at once"
std::string outlook(const Plan& trials, const SweepFolder& runs, const Making& m) {
  const std::vector<TrialState> all = states(trials, runs);
  const auto done = std::count(all.begin(), all.end(), TrialState::done);
  const double seconds = seconds_of(left_of(trials, runs), m);
  std::string text = counted(trials.size(), "trial");
  if (done) text += fmt::format(", {} of them done", done);
  if (seconds > 0) text += fmt::format("; {} about {}", done ? "the others take" : "all take", clock_time(seconds));
  return text + (m.jobs > 1 ? fmt::format(" with {} at once", m.jobs) : "");
}

void check_room(const Plan& trials, const SweepFolder& runs, const Making& m) {
  const std::vector<Choices> left = left_of(trials, runs);
  check_room(left, size_t(m.jobs), threads_of_each(m));
  if (const double seconds = seconds_of(left, m); seconds > month)
    bad_input("{} take about {} on this machine: more than a month. --plan writes a plan, and several workers or "
              "`poslab sweep submit` run it on many machines; --force runs it here anyway",
              counted(left.size(), "trial"), clock_time(seconds));
}

}  // namespace

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
        bad_input("{} is a plan of another size, or has further tables, tasks or encodings; request those, too, choose "
                  "another --out, or draw its finished trials with --draw", path);
  }
  if (!std::filesystem::exists(path) || read_file(path) != lines) write_file(path, lines);
}

// Throws BadInput if the folder has the page of other trials and none of `trials` has begun: drawing would replace it.
void check_drawable(const std::string& out, const Plan& trials, const SweepFolder& runs) {
  const std::string path = out + "/kept.jsonl";
  if (trials.empty() || !std::filesystem::exists(path)) return;
  const auto drawn = read_kept(path);
  const auto is_known = [&](const Trial& t) { return drawn.count(t.id) || std::filesystem::exists(runs.run(t)); };
  if (!drawn.empty() && std::none_of(trials.begin(), trials.end(), is_known))
    bad_input("--draw: {} holds none of the requested {}, and its page shows others; use the options that its "
              "README.md names, or leave out --draw to run these", out, counted(trials.size(), "trial"));
}

Output earlier_artifacts() { return {"", "", "# ", "\n    poslab "}; }

ValueLists settings(const Making& m) {
  ValueLists all;
  for (const std::string& s : m.sets)
    for (const auto& [name, list] : setting(s))
      if (const auto [at, first] = all.emplace(name, list); !first && at->second != list)
        bad_input("--set {}: another --set gives {} another value; give it once", s, name);
  return all;
}

std::string words_again(const Making& m) {
  std::string text;
  for (const std::string& s : m.sets) text += " --set " + shell_word(s);
  if (!m.kept.empty()) text += " --kept " + shell_path(m.kept);
  if (!m.figures.endings.empty()) text += fmt::format(" --figures {}", fmt::join(m.figures.endings, ","));
  if (!m.figures.width.empty()) text += " --width " + m.figures.width;
  return text + " --out " + shell_path(m.out);
}

void check_figures(const Making& m) {
  static const std::vector<std::string> known = {"svg", "pdf", "png", "pgf", "tex", "csv"};
  for (const std::string& ending : m.figures.endings)
    if (std::find(known.begin(), known.end(), ending) == known.end())
      raise<BadInput>(unknown("--figures", ending, known));
  page::millimetres_of(m.figures.width);
  if (!m.figures.width.empty() && m.figures.endings.empty())
    bad_input("--width {} changes nothing without figures; add --figures pdf", shell_word(m.figures.width));
  page::check_matplotlib("--figures", m.figures.endings);
}

void say_what_is_drawn(const Making& m, const std::string& summary) {
  const bool drawn = std::filesystem::is_directory(m.out + "/figures");
  fmt::print("{}{}{}/index.html, README.md and a .csv for each table and figure{}\n", summary,
             summary.empty() ? "" : "\n", m.out,
             m.figures.endings.empty() ? "" : drawn ? "; figures/" : "; no figures, as all results are tables");
}

void make(std::vector<reproduce::Planned> planned, Plan trials, const reproduce::Request& request, const Making& m,
          const std::string& what, const std::string& command) {
  if (m.out.empty()) bad_input("which folder should hold the results? Give --out FOLDER");
  check_figures(m);
  if (m.only_plan && trials.empty()) bad_input("{} needs no runs, so there is nothing to plan; leave out --plan", what);
  check_output_folder("--out", m.out, "README.md", earlier_artifacts());
  const SweepFolder runs(m.out + "/runs");
  const std::string plan = m.out + "/plan.jsonl";
  const auto restored = [&] {
    if (!m.kept.empty()) restore(trials, runs, m.kept);
  };
  restored();
  if (m.only_draw && !std::filesystem::is_directory(runs.path()))
    bad_input("there is no folder {}; do the runs first, without --draw", runs.path());
  const auto second_stages = [&] {  // trials that follow from the finished first stages
    if (!reproduce::add_second_stages(planned, request, runs)) return false;
    trials = reproduce::all_trials(planned);
    restored();
    if (!m.only_draw) keep_plan(trials, plan, runs);
    return true;
  };
  if (!m.only_plan && !m.only_draw && !m.force) check_room(trials, runs, m);
  const std::string python = m.only_plan ? "" : reproduce::python_for_papers();
  if (!second_stages() && !m.only_draw) keep_plan(trials, plan, runs);
  if (!m.only_draw)
    for (const std::string& line : unreached(trials)) tell(stderr, "{}\n", line);
  if (m.only_draw) check_drawable(m.out, trials, runs);
  if (!m.only_plan) check_replaceable(m.out + "/kept.jsonl", {trials}, runs);
  if (m.only_plan) {
    fmt::print(
        "{}: {}; run them with\n  poslab sweep run {} --out {}\nor `poslab sweep submit`, and draw them with\n"
        "  {} --draw\n",
        plan, counted(trials.size(), "trial"), shell_path(plan), shell_path(runs.path()), command);
    return;
  }
  Counts counts;
  if (!m.only_draw && !trials.empty()) do {
      if (!m.force) check_room(trials, runs, m);
      tell(stderr, "{}\n", outlook(trials, runs, m));
      counts = count(run_shard(trials, runs, {{}, m.jobs, m.threads, m.retry, m.force}));
    } while (second_stages());
  catch_signals();  // drawing can be stopped too
  tell(stderr, "{}", note_of_damage(trials, runs));
  const std::string summary = reproduce::write(planned, request, m.out, command, m.figures, python);
  say_what_is_drawn(m, summary);
  if (const int failed = counts[TrialState::failed] + counts[TrialState::impossible])
    failure("{} failed or could not be run; {}/README.md says why, and --retry tries failed ones again",
            counted(size_t(failed), "trial"), m.out);
}

void add_making(CLI::App* c, Making& m) {
  c->add_option("-o,--out", m.out, "the folder to make, or to go on with")->type_name("FOLDER");
  c->add_option("--set", m.sets,
                "an option of every run, in place of the size's; may be repeated; lr and seed take lists")
      ->type_name("KEY=VALUE")
      ->take_all()
      ->expected(1)
      ->allow_extra_args(false);
  add_number(c, "jobs", m.jobs, "trials at once (1)", {1, 1024});
  add_number(c, "threads", m.threads,
             "threads of each trial (the cores divided by the jobs); they never change a result", {1, 256});
  c->add_option("--kept", m.kept, "trials that are done, as `poslab sweep collect --kept` wrote them")
      ->type_name("FILE");
  c->add_option("--figures", m.figures.endings,
                "also save the pictures as files for papers, in FOLDER/figures, in these formats")
      ->type_name("svg,pdf,png,pgf,csv")
      ->delimiter(',');
  add_width(c, m.figures.width);
  CLI::Option* retry = c->add_flag("--retry", m.retry, "try failed trials again");
  add_force(c, m.force);
  CLI::Option* only_plan =
      c->add_flag("--plan", m.only_plan, "only write FOLDER/plan.jsonl (su2023, chi2023: plan-KIND.jsonl)");
  CLI::Option* only_draw = c->add_flag("--draw", m.only_draw, "only draw what is done");
  only_draw->excludes(only_plan);
  for (CLI::Option* trains_nothing : {only_plan, only_draw}) trains_nothing->excludes(retry);
}

}  // namespace poslab
