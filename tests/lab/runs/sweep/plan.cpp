// Plans: which trials a TOML file gives; writing and reading a plan changes nothing.
#include <cstdlib>
#include <future>

#include "lab/runs/sweep/named.h"
#include "lab/runs/sweep/slurm.h"
#include "tests/lab/runs/sweep/helpers.h"
#include "tests/core/allocations.h"

using namespace poslab;
using namespace poslab::sweep;
using namespace poslab::test;

namespace {

std::string labels(const Plan& plan) {
  std::string text;
  for (const Trial& t : plan) text += naming(plan).name(values_of(t.config())) + "\n";
  return text;
}

std::string refused(const std::string& toml) {
  return refusal([&] { make_plan(toml, "my.toml"); });
}

}  // namespace

TEST_CASE("plan: the product of all lists, and of each [[also]]") {
  const Plan plan = make_plan(R"(
seeds = 2
task = "even_pairs"
encoding = ["rope", "alibi"]
[[also]]
encoding = ["relative", "relative:mode=differences"]
seed = 7
[[also]]
encoding = "alibi"     # the same two again
)",
                              "sweep.toml");
  CHECK(labels(plan) ==
        "encoding=rope seed=0\nencoding=rope seed=1\n"
        "encoding=alibi seed=0\nencoding=alibi seed=1\n"
        "encoding=relative seed=7\nencoding=relative:mode=differences seed=7\n");
  std::set<std::string> ids;
  for (const Trial& t : plan) {
    ids.insert(t.id);
    CHECK(t.id.size() == 16);
    CHECK(t.impossible.empty());
  }
  CHECK(ids.size() == plan.size());
}

TEST_CASE("plan: ids are the same wherever and whenever they are made") {
  const Plan plan = make_plan(tiny_sweep, "sweep.toml");
  CHECK(plan.front().id == "2fa9cdaaaed57ba5");  // unchanged, so that finished sweeps of earlier versions are found
  CHECK(make_plan("preset = \"none\"\ndropout = 0.1\nlr = 1e-3\n" + tiny_sweep, "other.toml").front().id ==
        plan.front().id);
  CHECK(make_plan("seed = 1\n" + tiny_sweep, "sweep.toml").front().id != plan.front().id);
  Choices elsewhere = plan.front().config();
  elsewhere.set("threads", "2"), elsewhere.set("out", "runs/r");
  CHECK(trial_id(elsewhere) == plan.front().id);
}

TEST_CASE("plan: impossible configurations are listed, with the reason") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "heads = [2, 3]\npositions = [\"sequential\", \"randomized\"]\n");
  const Plan& plan = sweep.plan;
  REQUIRE(plan.size() == 4);
  for (const Trial& t : plan) CHECK(t.impossible.empty() == (t.config()["heads"] == "2"));
  const Plan back = read_plan(sweep.file);
  CHECK(plan_lines(back) == plan_lines(plan));
  CHECK(holds(plan_lines(plan), "\"impossible\":\"heads = 3 does not divide"));
  CHECK(trials_of(plan, {}).size() == 2);
  const Plan cuda = make_plan("device = \"cuda\"\n" + tiny_sweep, "sweep.toml");
  CHECK(cuda.front().impossible.empty());  // planning needs no GPU
}

TEST_CASE("plan: shards divide its lines") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 10\n");
  std::set<std::string> ids;
  size_t all = 0;
  for (int i = 0; i < 3; ++i)
    for (const Trial* t : trials_of(sweep.plan, {i, 3})) ids.insert(t->id), ++all;
  CHECK(all == 10);
  CHECK(ids.size() == 10);
  CHECK(read_shard("2/3").index == 2);
  for (const char* bad : {"", "3/3", "-1/3", "1", "1/", "/3", "1/3x", "0/0"})
    CHECK_MESSAGE(holds(refusal([&] { read_shard(bad); }), "it takes I/N"), bad);
}

TEST_CASE("plan: errors name the file and the line") {
  CHECK(holds(refused("task = \"even_pairs\"\nencodin = \"rope\"\n"),
              "2: my.toml, line 2: unknown option \"encodin\"; did"));
  CHECK(holds(refused("task = \"even_pairs\"\nencoding = [\"rope\",\n\"ropes\"]\n"), "unknown encoding \"ropes\""));
  CHECK(holds(refused("encoding = \"rope\"\n"), "2: my.toml: which task?"));
  CHECK(holds(refused("lr = []\n"), "lr = [] leaves no trial"));
  CHECK(holds(refused("threads = [1, 2]\n"), "threads belongs to `poslab sweep run`"));
  CHECK(holds(refused("seeds = 0\n"), "seeds is a number, 1 .. "));
  CHECK(holds(refused("seeds = 2\nseed = 1\n"), "seeds and seed"));
  CHECK(holds(refused("also = 1\n"), "[[also]]"));
  CHECK(holds(refused("task = \"even_pairs\"\nencoding = \"rope\"\n[[also]]\nalso = 1\n"),
              "line 4: unknown option \"also\""));
  CHECK(holds(refused(tiny_sweep + "seeds = 1000000\nlr = [0.1, 0.2]\n"), "more than 1000000 trials"));

  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 2\n");
  const std::string good = read_file(sweep.file);
  const auto read = [&](const std::string& text) {
    write_file(sweep.file, text);
    return refusal([&] { read_plan(sweep.file); });
  };
  CHECK(holds(read(good + "{\n"), "plan.jsonl, line 3: this is not a trial"));
  CHECK(holds(read(good + good), "line 3: line 1 is the same trial"));
  CHECK(holds(read(""), "holds no trial"));
  std::string changed = good;
  changed.replace(changed.find("\"seed\":0"), 8, "\"seed\":5");
  CHECK(holds(read(changed), "line 1: the id of this configuration is"));
}

TEST_CASE("plan: trials are named by their differences") {
  const std::string base = "task = \"even_pairs\"\nencoding = \"sincos\"\npositions = \"randomized\"\n";
  const Plan plan = make_plan(base + "causal = [false, true]\nseeds = 2\n", "sweep.toml");
  CHECK(labels(plan) == "causal=off seed=0\ncausal=off seed=1\ncausal=on seed=0\ncausal=on seed=1\n");
  CHECK(naming(plan, {"seed"}).name(values_of(plan[3].config())) == "causal=on");
  CHECK(labels(make_plan(base, "sweep.toml")) == "sincos (randomized)\n");
  // An option that differs is named even if others already distinguish the runs, unless its value is the preset's.
  const Plan mixed = make_plan(base + "[[also]]\nencoding = \"rope\"\nlr = 0.5\n", "sweep.toml");
  CHECK(labels(mixed) == "encoding=sincos\nencoding=rope lr=0.5\n");
  // Runs with an option that this program does not know: options that they leave out have the preset's values.
  const Naming old(
      std::vector<Values>{{{"encoding", "rope"}, {"future", "1"}}, {{"encoding", "rope"}, {"causal", "off"}}});
  CHECK(old.name({{"encoding", "rope"}, {"future", "1"}}) == "future=1");
}

TEST_CASE("plan: readable names for folders") {
  const TemporaryFolder folder;
  Sweep sweep(folder, "seeds = 2\npositions = [\"randomized\", \"sequential\"]\n");
  CHECK(names_of(sweep.plan).empty());
  name_trials(sweep.plan, "{task}-{positions}-{seed}");
  const TrialNames names = names_of(sweep.plan);
  REQUIRE(names.size() == 4);
  CHECK(names.count("reverse_string-sequential-1") == 1);
  const SweepFolder out(folder / "out");
  std::filesystem::create_directories(out.run(sweep.plan[0]));
  link_names(names, out);
  link_names(names, out);  // existing files are kept
  write_file(out.run(sweep.plan[0]) + "/x", "here");
  CHECK(read_file(out.path() + "/named/reverse_string-randomized-0/x") == "here");
  CHECK_FALSE(std::filesystem::is_symlink(out.path() + "/named/reverse_string-randomized-1"));  // it has not begun
  name_trials(sweep.plan, "{encoding}/{seed}{positions}");
  CHECK(names_of(sweep.plan).count("relative_0randomized") == 1);
  const auto refused = [&](const std::string& text) { return refusal([&] { name_trials(sweep.plan, text); }); };
  CHECK(holds(refused("{task}-{seed}"), "add what distinguishes them, positions=randomized and positions=sequential"));
  CHECK(holds(refused("{tsk}"), "the name {tsk}: unknown option \"tsk\"; did you mean \"task\""));
  CHECK(holds(refused("{threads}"), "threads belongs to `poslab sweep run`, not to a trial"));
  CHECK(holds(refused("{task"), "not closed"));
  CHECK(holds(refused("..{seed}"), "begin it with a letter"));
}

TEST_CASE("plan: a TOML file names its trials, and the plan keeps the rule") {
  const TemporaryFolder folder;
  const std::string lists = "positions = [\"randomized\", \"sequential\"]\nheads = [2, 3]\n";
  const Sweep named(folder, "name = \"{task}-{positions}-{heads}\"\n" + lists);
  const Plan plain = make_plan(tiny_sweep + lists, "sweep.toml"), back = read_plan(named.file);
  REQUIRE(named.plan.size() == plain.size());
  for (size_t i = 0; i < plain.size(); ++i) {
    CHECK(named.plan[i].id == plain[i].id);  // a name changes no id: a sweep can be named later
    CHECK(back[i].name == named.plan[i].name);
    CHECK(back[i].name.empty() == !back[i].impossible.empty());
  }
  CHECK(names_of(back).count("reverse_string-randomized-2") == 1);
  const std::string same = tiny_sweep + "seeds = 2\n";
  CHECK(holds(refused("name = \"{tsk}\"\n" + same), "my.toml, line 1: the name {tsk}: unknown option \"tsk\""));
  CHECK(holds(refused(same + "name = \"{task}\"\n"), "add what distinguishes them, seed=0 and seed=1"));
  CHECK(holds(refused("name = 3\n" + same), "line 1: name is a text such as"));
  CHECK(holds(refused(same + "[[also]]\nname = \"{task}\"\n"), "name belongs once at the top"));
  const std::string line = plan_lines({named.plan[0]});
  for (const char* bad : {"../up", "", ".x"}) {
    std::string changed = line;
    changed.replace(changed.find("reverse_string-randomized-2"), 27, bad);
    write_file(folder / "changed.jsonl", changed);
    CHECK_MESSAGE(holds(refusal([&] { read_plan(folder / "changed.jsonl"); }), "cannot be the name of a link"), bad);
  }
}

TEST_CASE("plan: a sweep's folder keeps the plans that were run in it") {
  const TemporaryFolder folder;
  const SweepFolder out(folder / "out");
  const Plan one = make_plan(tiny_sweep + "seeds = 2\n", "a.toml");
  const Plan more = make_plan(tiny_sweep + "seeds = 3\n", "b.toml");
  keep_plan(more, out);
  keep_plan(one, out);
  CHECK(plan_lines(read_plan(kept_plan(out.path()))) == plan_lines(more));

  const Plan other = make_plan(tiny_sweep + "lr = 0.5\n", "c.toml");
  std::optional<Claim> draws = Claim::take(out.path(), claimed_to_draw), keeps;
  REQUIRE(draws);
  keeps = Claim::take(out.path(), claimed_to_plan);  // while another process draws
  REQUIRE(keeps);
  auto waits = std::async(std::launch::async, [&] { keep_plan(other, out); });
  CHECK(waits.wait_for(std::chrono::milliseconds(150)) == std::future_status::timeout);
  keeps.reset();
  waits.get();
  CHECK(read_plan(kept_plan(out.path())).size() == 4);
}

TEST_CASE("the job script of Slurm: a task for each shard, and paths with blanks") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 2\n");
  std::filesystem::rename(sweep.file, folder / "it's a plan");
  Program p(folder,
            fmt::format("sweep submit \"{}\" --out \"{}\" --slurm --shards 3 --jobs 2 --threads 4 --time 2:00:00 --dry",
                        folder / "it's a plan", folder / "my sweep"));
  REQUIRE(p.status() == 0);
  const std::string script = read_file(folder / "my sweep/job.sh");
  CHECK(p.output() == script);
  for (const char* part : {"--array=0-2\n", "--cpus-per-task=8\n", "--time=2:00:00\n", "--signal=B:USR1@60 --requeue",
                           "/it'\\''s a plan' --out '", "--shard \"$SLURM_ARRAY_TASK_ID/3\" --jobs 2 --threads 4 &"})
    CHECK_MESSAGE(holds(script, part), part);
  Program none(folder, fmt::format("sweep submit \"{}\" --out {} --slurm", folder / "it's a plan", folder / "s"),
               "PATH=/none;");
  CHECK(none.status() == 1);
  CHECK(holds(none.output(), "there is no sbatch here"));
}

TEST_CASE("a job script goes to sbatch, which may take it, refuse it or be missing") {
  const TemporaryFolder folder;
  const char* const given = std::getenv("PATH");
  const std::string path = given ? given : "";
  ::setenv("PATH", folder.path.c_str(), 1);
  CHECK(holds(refusal([] { submit("job.sh"); }), "1: there is no sbatch here; submit job.sh where Slurm is"));
  for (const int status : {0, 3}) {
    write_file(folder / "sbatch", fmt::format("#!/bin/sh\necho \"$@\" > '{}'\nexit {}\n", folder / "asked", status));
    std::filesystem::permissions(folder / "sbatch", std::filesystem::perms::owner_all);
    CHECK(refusal([] { submit("a job.sh"); }) == (status ? "1: sbatch refused a job.sh; see above" : ""));
    CHECK(read_file(folder / "asked") == "a job.sh\n");
  }
  ::setenv("PATH", path.c_str(), 1);
}

TEST_CASE("plan: the names of trials need, of each trial, only the values that differ") {
  const Plan plan = make_plan("task = \"even_pairs\"\nencoding = \"rope\"\nseeds = 200\n", "sweep.toml");
  const int64_t before = allocations();
  const Naming names = naming(plan);
  const int64_t taken = allocations() - before;
  for (const Trial& t : plan) values_of(t.run);  // every value that could be kept
  const int64_t all = allocations() - before - taken;
  CHECK(names.differing() == std::vector<std::string>{"seed"});
  CAPTURE(double(taken) / double(all));
  CHECK(4 * taken <= all);
}
