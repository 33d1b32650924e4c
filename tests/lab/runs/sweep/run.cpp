// Sweeps as users run them: workers that are killed, trials that fail, the status meanwhile, and the collected table.

#include <fstream>
#include <limits>
#include <map>
#include <random>
#include <sstream>

#include "lab/runs/run_folder.h"
#include "lab/runs/sweep/collect.h"
#include "tests/lab/runs/sweep/helpers.h"

using namespace poslab;
using namespace poslab::sweep;
using namespace poslab::test;

namespace {

using S = TrialState;

Counts counts(const Sweep& sweep, const std::string& out) { return count(states(sweep.plan, SweepFolder(out))); }

// No trial starts while another process runs it, or after it has ended. An outcome follows every start, unless
// the worker was killed. Returns the number of starts.
int check_journal(const std::string& out, const std::set<pid_t>& killed) {
  std::map<std::string, std::string> working;
  std::set<std::string> done;
  int starts = 0;
  std::istringstream lines(read_file(out + "/journal.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const auto event = nlohmann::json::parse(line);
    const std::string id = event["id"], worker = event["worker"];
    CAPTURE(line);
    CHECK(!done.count(id));
    if (event["event"] == "start") {
      ++starts;
      if (working.count(id)) CHECK(killed.count(std::stoi(working[id].substr(working[id].rfind(':') + 1))));
      working[id] = worker;
    } else {
      CHECK(working[id] == worker);
      working.erase(id);
    }
    if (event["event"] == "done") done.insert(id);
  }
  return starts;
}

// Whether this worker's last line in the journal is the start of a trial.
bool has_a_trial(const std::string& out, pid_t worker) {
  bool has = false;
  std::ifstream lines(out + "/journal.jsonl");  // the file may not exist yet
  for (std::string line; std::getline(lines, line);)
    if (const auto event = nlohmann::json::parse(line);
        event["worker"].get<std::string>().ends_with(fmt::format(":{}", worker)))
      has = event["event"] == "start";
  return has;
}

// Two workers on one shard are killed at random; then one worker does the rest.
void tear(int trials, int kills, int steps) {
  const TemporaryFolder folder;
  const Sweep sweep(folder, fmt::format("seeds = {}\nsteps = {}\npositions = \"randomized\"\n", trials, steps));
  const std::string straight = folder / "straight", torn = folder / "torn";
  Program undisturbed(folder, sweep.run(straight, "--jobs 2"));
  REQUIRE(undisturbed.status() == 0);

  std::filesystem::create_directory(torn);
  std::minstd_rand random(1);
  std::vector<Program> workers;
  std::set<pid_t> killed;
  std::set<std::string> done;
  const auto look = [&] {
    const std::vector<S> all = states(sweep.plan, SweepFolder(torn));
    const Counts now = count(all);
    CHECK(now[S::failed] == 0);
    CHECK(now[S::running] <= int(2 + killed.size()));
    bool kept = true;  // finished trials stay finished
    for (size_t i = 0; i < all.size(); ++i) {
      const std::string& id = sweep.plan[i].id;
      if (all[i] == S::done && done.insert(id).second)
        CHECK(contents(torn + "/" + id) == contents(straight + "/" + id));
      kept = kept && (all[i] == S::done) == bool(done.count(id));
    }
    CHECK(kept);
  };
  const auto start = [&](int worker) { return Program(folder, sweep.run(torn), "", fmt::format("worker{}", worker)); };
  for (int worker : {0, 1}) workers.push_back(start(worker));
  for (int kill = 0; kill < kills; ++kill) {
    for (look(); int(done.size()) < trials * kill / (kills + 1) && workers[0].running() && workers[1].running(); look())
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::this_thread::sleep_for(std::chrono::milliseconds(random() % 100));
    Program& victim = workers[random() % 2];
    // By chance every kill might come between two trials, or before the first.
    if (kill == 0) CHECK(eventually([&] { return has_a_trial(torn, victim.process()); }));
    victim.send(SIGKILL);
    killed.insert(victim.process());
    CHECK(victim.status() == 128 + SIGKILL);
    victim = start(int(&victim - workers.data()));
  }
  for (Program& worker : workers) CHECK(worker.status() == 0);
  Program last(folder, sweep.run(torn));
  CHECK(last.status() == 0);
  CHECK(last.output() == fmt::format("shard 0/1: {} done\n", trials));
  look();
  CHECK(int(done.size()) == trials);
  CHECK(check_journal(torn, killed) > trials);  // some were interrupted
}

}  // namespace

TEST_CASE("sweep: 15 trials on two workers that are killed 5 times: none lost, none repeated, the same results") {
  tear(15, 5, 300);
}

TEST_CASE("sweep: 200 trials on two workers that are killed 20 times" * doctest::skip()) { tear(200, 20, 800); }

TEST_CASE("sweep: status lists the workers, and a signal saves the running trials") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 3\nsteps = 100000\n");
  const std::string out = folder / "out";
  {
    Program worker(folder, sweep.run(out, "--jobs 2"));
    CHECK(eventually([&] { return std::filesystem::exists(out) && counts(sweep, out)[S::running] == 2; }));
    CHECK(counts(sweep, out)[S::todo] == 1);
    Program other(folder, sweep.run(out, "--shard 0/3"), "", "other");  // another worker runs its only trial
    CHECK(other.status() == 0);
    CHECK(other.output() == "shard 0/3: 1 running\n");
    const std::string first = out + "/" + sweep.plan[0].id;
    CHECK(eventually([&] { return std::filesystem::exists(first + "/checkpoint.safetensors"); }));
    worker.send(SIGTERM);
    CHECK(worker.status() == 143);
    CHECK(holds(worker.output(), "the same command goes on with it"));
    CHECK(counts(sweep, out)[S::running] == 0);
    CHECK(counts(sweep, out)[S::stopped] >= 1);
    CHECK(counts(sweep, out)[S::done] == 0);
  }
  Program worker(folder, sweep.run(out));
  CHECK(eventually([&] { return counts(sweep, out)[S::running] == 1; }));
  worker.send(SIGKILL);
  CHECK(worker.status() == 128 + SIGKILL);
  CHECK(eventually([&] { return counts(sweep, out)[S::running] == 0; }));  // the trial ends with its worker
  check_journal(out, {worker.process()});
}

TEST_CASE("sweep: a trial that fails is named with its reason, and does not stop the others; all are collected") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 2\nsteps = 30\nheads = [2, 3]\n");
  const Trial &bad = sweep.plan[0], &good = sweep.plan[1];
  const std::string out = folder / "out";
  std::filesystem::create_directory(out);
  {
    State state(RunSpec(bad.config()));
    Tensor first = state.params.entries().front().tensor;
    first.set(std::vector<real>(size_t(first.size()), std::numeric_limits<real>::quiet_NaN()).data());
    RunFolder::create(SweepFolder(out).run(bad), state);
  }
  Program worker(folder, sweep.run(out));
  CHECK(worker.status() == 1);
  const std::string said = worker.output();
  CAPTURE(said);
  CHECK(holds(said, "failed   " + bad.id + "  heads=2 seed=0  the loss is "));
  CHECK(holds(said, "done     " + good.id));
  CHECK(holds(said, "  (sweep: "));
  CHECK(holds(said, "shard 0/1: 1 done, 1 failed, 2 impossible\n"));
  const std::string journal = read_file(out + "/journal.jsonl");

  Program again(folder, sweep.run(out));  // it is not tried again
  CHECK(again.status() == 1);
  CHECK(read_file(out + "/journal.jsonl") == journal);

  Program told(folder, fmt::format("sweep status {} --out {}", sweep.file, out));
  CHECK(told.status() == 0);
  for (const char* part : {"4 trials: 1 done, 1 failed, 2 impossible\n", "done             1\n", "failed           1\n",
                           "impossible       2\n",
                           "nan at step 1", "heads = 3 does not divide d_model = 16"})
    CHECK_MESSAGE(holds(told.output(), part), told.output());

  Program collected(folder,
                    fmt::format("sweep collect {0} --out {1} --csv {1}/all.csv --lengths-csv {1}/lengths.csv",
                                sweep.file, out));
  REQUIRE(collected.status() == 0);
  const auto result = nlohmann::json::parse(read_file(out + "/" + good.id + "/result.json"));
  const std::string csv = read_file(out + "/all.csv");
  CHECK(holds(csv,
              "id,name,state,heads,seed,paper_score,released_score,chance,majority,content_only,seconds,commit,reason,"
              "preset,task,"));
  for (const ChoiceOption& o : all_choices().options)  // even options that are the same in all trials
    if (o.kept)
      CHECK_MESSAGE(holds("," + csv.substr(0, csv.find('\n')) + ",", "," + o.option.name + ","), o.option.name);
  CHECK(holds(csv, fmt::format("{},heads=2,done,2,1,{:.12g}", good.id, result["paper_score"].get<double>())));
  CHECK(holds(csv, fmt::format("{},heads=2,failed,2,0,,,,,,,,the loss is ", bad.id)));
  CHECK(holds(csv, ",off,"));
  CHECK_FALSE(holds(csv, "false"));
  const std::string lengths = read_file(out + "/lengths.csv");
  CHECK(holds(lengths, "id,task,name,seed,length,accuracy,samples,chance,majority,content_only\n"));
  CHECK(std::count(lengths.begin(), lengths.end(), '\n') == 1 + 9);
  CHECK(holds(lengths, fmt::format("{},reverse_string,heads=2,1,9,", good.id)));
  CHECK(to_csv({{"a", "b"}, {{"one, \"two\"", nullptr}, {0.2, 1e-05}}}) == "a,b\n\"one, \"\"two\"\"\",\n0.2,1e-05\n");
  CHECK(std::count(csv.begin(), csv.end(), '\n') == 5);

  std::filesystem::remove_all(SweepFolder(out).run(bad));
  Program retried(folder, sweep.run(out, "--retry"));
  CHECK(retried.status() == 0);
  CHECK(counts(sweep, out)[S::done] == 2);
  CHECK(!std::filesystem::exists(out + "/" + bad.id + ".failed"));
  check_journal(out, {});
}

#ifndef POSLAB_DOUBLE  // this training stays in the range of doubles
TEST_CASE("sweep: control characters in a reason or a name from a stranger do nothing in status and in a report") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 2\nsteps = 2\n");
  const std::string out = folder / "out", bad = "no\x1b[2J run";
  Program worker(folder, sweep.run(out));
  CHECK(worker.status() == 0);
  std::filesystem::remove_all(out + "/" + sweep.plan[0].id);
  write_file(out + "/" + sweep.plan[0].id + ".failed", "it\x1b]0;title\x07 ended\n");
  const std::string status = Program(folder, fmt::format("sweep status {} --out {}", sweep.file, out)).output();
  CHECK(holds(status, "it\\x1b]0;title\\x07 ended"));
  CHECK(!holds(status, "\x1b"));
  std::filesystem::create_directory(folder / bad);
  const std::string run = out + "/" + sweep.plan[1].id, page = folder / "page.html";
  const std::string said = Program(folder, fmt::format("report {} '{}' -o {}", run, folder / bad, page)).output();
  CHECK(holds(said, "skipped: "));
  CHECK(holds(said, "no\\x1b[2J run"));
  CHECK(!holds(said, "\x1b"));
}

// Slopes are exp(a), and each step of Adam moves a by about lr = 100: some become infinite on every instruction set.
TEST_CASE("sweep: training that diverges ends with a remedy, and the trial beside it is done") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "steps = 10\n[[also]]\nencoding = 'alibi:learned'\nlayers = 4\nlr = 100\n");
  const std::string out = folder / "out";
  Program worker(folder, sweep.run(out));
  CHECK(worker.status() == 1);
  const std::string said = worker.output();
  CAPTURE(said);
  CHECK(holds(said, "failed   " + sweep.plan[1].id + "  encoding=alibi:learned layers=4 lr=100  the loss is "));
  CHECK(holds(said, "nan at step 2 (length 4): training has diverged; lower lr (now 100) or clip (now 1)"));
  CHECK(holds(said, "shard 0/1: 1 done, 1 failed\n"));
  CHECK(counts(sweep, out)[S::done] == 1);
}
#endif

TEST_CASE("sweep: bad input is refused in one line that names it") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "");
  const std::pair<std::string, std::string> cases[] = {
      {"sweep pln", "unknown command \"pln\"; did you mean \"plan\"?"},
      {"sweep run",
       "sweep run needs plan, the plan, or the folder of a sweep that was begun; see `poslab sweep run --help`"},
      {sweep.run(folder / "out", "--shard 3/3"), "--shard 3/3 is not a shard; it takes I/N"},
      {sweep.run(folder / "out", "--job 3"), "unknown option \"--job\"; did you mean \"--jobs\"?"},
      {"sweep collect " + sweep.file + " --out " + folder / "none", "there is no folder"},
      {sweep.run(folder / "out", "--name {tsk}"), "did you mean \"task\""},
      {"sweep submit " + sweep.file + " --out " + folder / "out", "Use --slurm"},
  };
  for (const auto& [arguments, says] : cases) {
    Program p(folder, arguments);
    const std::string said = p.output();
    CAPTURE(said);
    CHECK(p.status() == 2);
    CHECK(holds(said, says));
    CHECK(std::count(said.begin(), said.end(), '\n') == 1);
  }
  CHECK(!std::filesystem::exists(folder / "out"));
  Program before(folder, "sweep status " + sweep.file + " --out " + folder / "none");  // before the first run
  CHECK(before.status() == 0);
  CHECK(holds(before.output(), "1 trial: 1 to do\n"));
  CHECK(holds(before.output(), "There is no folder"));
  for (const char* words :
       {"help sweep", "sweep --help", "sweep plan --help", "sweep run --help", "sweep submit --help"}) {
    Program p(folder, words);
    CHECK(p.status() == 0);
    CHECK(p.output().size() > 200);
  }
}
