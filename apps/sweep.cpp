#include "lab/runs/sweep/sweep.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>

#include "apps/all_commands.h"
#include "apps/number_option.h"
#include "core/error.h"
#include "core/platform/parallel.h"
#include "experiment/build.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"
#include "lab/files/system.h"
#include "lab/runs/output.h"
#include "lab/runs/room.h"
#include "lab/runs/sweep/population.h"

namespace poslab {
namespace {

using namespace sweep;
namespace fs = std::filesystem;

struct SweepWords {
  std::string file, out, shard = "0/1", name, csv, lengths_csv, kept, time, device;
  int jobs = 1, threads = 0, shards = 1, population = 0;
  bool retry = false, force = false, slurm = false, dry = false;
};

// The plan, from its file or from a sweep's folder, and the folder of its trials: --out, or the folder of the plan.
// `goes_on`: trials will run, so a plan that is a file needs --out.
PlacedPlan sweep_of(const SweepWords& w, bool goes_on = false) {
  const bool folder = fs::is_directory(w.file);
  if (w.out.empty() && goes_on && !folder) bad_input("which folder should hold the trials? Give --out FOLDER");
  if (w.out.empty() || folder) {
    PlacedPlan sweep = find_sweep(w.file);
    if (!w.out.empty()) sweep.folder = w.out;
    return sweep;
  }
  return {read_plan(w.file), w.out};
}

void plan_command(const SweepWords& w) {
  if (w.file.ends_with(".jsonl"))
    bad_input(
        "{0} has the name of a plan, but plans are made from TOML files; to run it use `poslab sweep run {0} --out "
        "FOLDER`",
        shell_path(w.file));
  const Plan plan = make_plan(read_input(w.file), w.file);
  fmt::print("{}", plan_lines(plan));
  const auto impossible = std::count_if(plan.begin(), plan.end(), [](const Trial& t) { return !t.impossible.empty(); });
  std::string text = counted(plan.size(), "trial");
  if (impossible) text += fmt::format(", {} of them impossible (the plan says why) and never run", impossible);
  tell(stderr, "{}\n", text);
  for (const std::string& line : unreached(plan)) tell(stderr, "{}\n", line);
}

// Whether the largest trials that run at once fit into the memory, and none takes a month.
void check_room(const Plan& plan, Shard shard, const SweepWords& w) {
  std::vector<Choices> all;
  for (const Trial* t : trials_of(plan, shard)) {
    all.push_back(t->config());
    if (!w.device.empty()) all.back().set("device", w.device);
  }
  check_room(all, size_t(w.jobs), w.threads ? w.threads : std::max(1, threads() / w.jobs));
}

// Checks all trials before the first one begins.
void check_together(const Plan& plan, const SweepWords& w) {
  if (w.population && w.jobs > 1)
    bad_input("--population {} trains trials in one process, and --jobs {} in separate processes; give one of the two",
              w.population, w.jobs);
  if (!w.device.empty()) {
    Choices c = all_choices().standard;
    c.set("device", w.device);
    backend(device(c));  // refused unless this build has a GPU
  }
}

// The child of a worker: trains the population in the plan and prints how each trial ended (lab/runs/sweep/child.h).
void members_command(const SweepWords& w) {
  catch_signals();
  const Plan plan = read_plan(w.file);
  std::vector<const Trial*> all;
  for (const Trial& t : plan) all.push_back(&t);
  const auto say = [](const Trial& t, int status) {
    fmt::print("{} {}\n", t.id, status);
    std::fflush(stdout);
  };
  train_population(all, SweepFolder(w.out), {std::max(1, w.threads), w.device, w.force}, say);
  if (const int signal = caught_signal()) throw Interrupted(signal, "the population is stopped");
}

void run_command(const SweepWords& w) {
  auto [plan, path] = sweep_of(w, true);
  if (!w.name.empty()) name_trials(plan, w.name);
  const TrialNames names = names_of(plan);
  const Shard shard = read_shard(w.shard);
  check_together(plan, w);
  if (!w.force) check_room(plan, shard, w);
  for (const std::string& line : unreached(plan)) tell(stderr, "{}\n", line);
  const SweepFolder folder(path);
  if (!w.kept.empty()) {
    const auto kept = read_kept(w.kept);
    if (std::none_of(plan.begin(), plan.end(), [&](const Trial& t) { return kept.count(t.id); }))
      bad_input("--kept {}: none of its {} is in this plan; leave it out, or name the file of this sweep", w.kept,
                counted(kept.size(), "trial"));
    restore(plan, folder, w.kept);
  }
  keep_plan(plan, folder);
  std::vector<TrialState> all =
      run_shard(plan, folder, {shard, w.jobs, w.threads, w.retry, w.force, w.population, w.device});
  link_names(names, folder);
  for (const auto& [line, why] : damaged(plan, folder)) all[line] = TrialState::failed;
  std::vector<TrialState> mine;
  for (size_t line = size_t(shard.index); line < plan.size(); line += size_t(shard.of)) mine.push_back(all[line]);
  const Counts counts = count(mine);
  fmt::print("shard {}: {}\n", w.shard, to_string(counts));
  if (const int failed = counts[TrialState::failed])
    failure("{} of shard {} failed; `poslab sweep status {}` says why, and --retry tries them again", failed, w.shard,
            shell_path(path));
}

void status_command(const SweepWords& w) {
  const auto [plan, path] = sweep_of(w);
  fmt::print("{}", status(plan, SweepFolder(path)));
}

void collect_command(const SweepWords& w) {
  std::map<fs::path, std::string> taken;
  for (const auto& [option, file] : {std::pair{"--csv", w.csv}, {"--lengths-csv", w.lengths_csv}, {"--kept", w.kept}}) {
    std::error_code error;
    if (file.empty() || file.starts_with("/dev/")) continue;  // /dev/stdout accepts all
    if (const auto [other, first] = taken.emplace(fs::weakly_canonical(fs::absolute(file), error), option); !first)
      bad_input("{} and {} {}: one would overwrite the other; name two files", other->second, option, file);
  }
  if (!w.csv.empty()) check_output("--csv", w.csv, {csv_output("id,name,")});
  if (!w.lengths_csv.empty()) check_output("--lengths-csv", w.lengths_csv, {csv_output("id,")});
  if (!w.kept.empty()) check_output("--kept", w.kept, {{"", "JSON", "{\"id\":", "\"tested\":"}});
  const auto [plan, path] = sweep_of(w);
  const Collected all = collect(plan, SweepFolder(path));
  tell(stderr, "{}", note_of_damage(plan, SweepFolder(path)));
  if (!w.csv.empty()) write_file(w.csv, to_csv(all.trials));
  if (!w.lengths_csv.empty()) write_file(w.lengths_csv, to_csv(all.lengths));
  if (!w.kept.empty()) fmt::print("{}: {} more\n", w.kept, counted(keep(plan, SweepFolder(path), w.kept), "trial"));
  if (w.csv.empty() && w.lengths_csv.empty() && w.kept.empty()) fmt::print("{}", to_csv(all.trials));
}

void submit_command(const SweepWords& w) {
  if (!w.slurm) bad_input("to which scheduler? Use --slurm, the only one that poslab supports");
  const std::string out = sweep_of(w, true).folder;  // a bad plan is refused here rather than in the queue
  check_output_folder("--out", out, "job.sh", {"", "", "#!/bin/bash\n# One shard of a sweep"});
  make_folder(out);
  const std::string path = out + "/job.sh", plan = fs::is_directory(w.file) ? kept_plan(w.file) : w.file;
  const std::string script =
      job_script({path_of_this_program(), plan, out, w.shards, w.jobs, std::max(1, w.threads), w.time});
  write_file(path, script);
  if (w.dry)
    fmt::print("{}", script);
  else
    submit(path);
}

}  // namespace

std::function<void()> add_sweep(CLI::App* sweep) {
  const auto words = std::make_shared<SweepWords>();
  const auto commands = std::make_shared<Commands>(sweep);
  const auto command = [&](const char* name, const char* summary, void (*action)(const SweepWords&)) {
    return commands->add(name, summary, [=] { action(*words); });
  };
  const auto plan_and_folder = [&](CLI::App* c) {
    c->add_option("plan", words->file, "the plan, or the folder of a sweep that was begun")->required();
    c->add_option("-o,--out", words->out, "the folder of the sweep (where its trials are)")->type_name("FOLDER");
  };
  const auto jobs_and_threads = [&](CLI::App* c, const char* threads) {
    add_number(c, "jobs", words->jobs, "trials at once (1)", {1, 1024});
    add_number(c, "threads", words->threads, threads, {1, 256});
  };

  CLI::App* plan = command("plan", "print the trials of a TOML file", plan_command);
  plan->add_option("file", words->file, "the TOML file")->required();

  CLI::App* run = command("run", "run the trials of a plan, or a shard of them", run_command);
  plan_and_folder(run);
  run->add_option("--shard", words->shard, "every Nth trial, from the Ith (0/1)")->type_name("I/N");
  jobs_and_threads(run, "threads of each trial (the cores divided by the trials at once); they never change a result");
  add_number(run, "population", words->population, "this many trials in one process, on a GPU all at once",
             {1, most_together});
  run->add_option("--device", words->device, "where to train (as the plan says)")->type_name(option("device").takes());
  run->add_flag("--retry", words->retry, "try failed trials again");
  run->add_option("--kept", words->kept, "trials that are done, as `poslab sweep collect --kept` wrote them")
      ->type_name("FILE");
  run->add_option("--name", words->name, "also link every trial as FOLDER/named/NAME, with {option}s in NAME")
      ->type_name("'{task}-{encoding}-{seed}'");
  add_force(run, words->force);

  CLI::App* members = command("members", "train a population; `run` starts this by itself", members_command);
  members->group("");  // not in the help
  plan_and_folder(members);
  add_number(members, "threads", words->threads, "threads of each trial", {0, 256});
  members->add_option("--device", words->device, "where to train");
  members->add_flag("--force", words->force, "whatever memory and time it takes");

  plan_and_folder(command("status", "print the states of the trials, also while workers run", status_command));

  CLI::App* all =
      command("collect", "write a table of results, a row for each trial (CSV to standard output)", collect_command);
  plan_and_folder(all);
  all->add_option("--csv", words->csv, "write it as CSV")->type_name("FILE");
  all->add_option("--lengths-csv", words->lengths_csv, "write accuracy by length as CSV, a row for each length")
      ->type_name("FILE");
  all->add_option("--kept", words->kept, "add finished trials to a file: a sweep goes on from it without its folders")
      ->type_name("FILE");

  CLI::App* submit = command("submit", "run the plan as a Slurm job array", submit_command);
  plan_and_folder(submit);
  submit->add_flag("--slurm", words->slurm, "to Slurm, the only scheduler that poslab writes for");
  add_number(submit, "shards", words->shards, "tasks of the array (1)", {1, 10000});
  jobs_and_threads(submit, "threads of each trial (1); a task asks for jobs x threads cores");
  submit
      ->add_option("--time", words->time,
                   "time limit of a task, as sbatch takes it; a task that reaches it is requeued")
      ->type_name("TIME");
  submit->add_flag("--dry", words->dry, "only write job.sh, and print it");

  return [=] { commands->act("poslab sweep"); };
}

}  // namespace poslab
