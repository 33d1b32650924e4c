// Populations (lab/runs/sweep/population.h): trials that one process trains together have the bits of trials trained
// alone, even if they run at the same time on a GPU (real or emulated), and if one or all are interrupted.
#include "lab/runs/sweep/population.h"

#include <fstream>
#include <limits>
#include <map>

#include "core/memory.h"
#include "core/platform/parallel.h"
#include "cuda/backend.h"
#include "experiment/step.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/runs/run_folder.h"
#include "lab/runs/sweep/child.h"
#include "lab/runs/whole_run.h"
#include "tests/lab/runs/sweep/helpers.h"
#include "tests/support/op_run.h"

namespace poslab::test {
namespace {

namespace fs = std::filesystem;

// Five trials on the GPU: two seeds with two learning rates each, and one trial of another shape.
const std::string on_gpu = R"(task = "reverse_string"
encoding = "relative"
positions = "randomized"
max_position = 64
device = "cuda"
layers = 1
d_model = 16
batch = 4
train_length = 3
eval_lengths = "1:4"
eval_samples = 4
steps = 8
checkpoint_every = 2
log_every = 5
lr = [0.001, 0.0002]
seeds = 2
[[also]]
encoding = "rope"
heads = 2
)";

struct Population {
  Population() : plan(make_plan(on_gpu, "sweep.toml")) {
    add_backend(Device::cuda, cuda::as_backend());
    REQUIRE(plan.size() == 8);
    for (const size_t n : {0, 1, 2, 3, 4}) trials.push_back(&plan[n]);
    Progress::shown = false;
  }
  ~Population() { Progress::shown = true; }
  std::map<std::string, int> train(const std::string& out) const {
    fs::create_directories(out);
    std::map<std::string, int> statuses;
    train_population(trials, SweepFolder(out), {}, [&](const Trial& t, int status) { statuses[t.id] = status; });
    return statuses;
  }
  // The files of each trial when it is trained alone, on one thread.
  std::map<std::string, std::string> alone(const std::string& out, std::set<const Trial*> left_out = {}) const {
    fs::create_directories(out);
    std::map<std::string, std::string> all;
    for (const Trial* t : trials) {
      if (left_out.contains(t)) continue;
      train_run(strings_kind(), settings_of(*t, SweepFolder(out), {}), {}, false);
      all[t->id] = contents(SweepFolder(out).run(*t));
    }
    return all;
  }
  bool all_have(const std::string& out, const char* file) const {
    return std::all_of(trials.begin(), trials.end(),
                       [&](const Trial* t) { return fs::exists(SweepFolder(out).run(*t) + "/" + file); });
  }
  Plan plan;
  std::vector<const Trial*> trials;
};

}  // namespace

TEST_CASE("cuda: each of five models in a population has the bits that it has alone, also after a kill and a signal") {
  const OneThread one;
  const TemporaryFolder folder;
  const Population five;
  const std::string out = folder / "together";
  const auto expected = five.alone(folder / "alone");
  std::set<std::string> different;
  for (const auto& [id, files] : expected) different.insert(files);
  CHECK(different.size() == 5);

  const int64_t held = memory(Device::cuda).bytes_held;
#ifdef POSLAB_EMULATE                      // a process forked from one that uses a GPU cannot use it
  const pid_t child = fork();
  if (child == 0) five.train(out), _exit(0);
  CHECK(eventually([&] { return five.all_have(out, "clock.jsonl"); }));           // each trial has saved something
  kill(child, SIGKILL);
  int raw = 0;
  CHECK(waitpid(child, &raw, 0) == child);
  CHECK(WIFSIGNALED(raw));
  CHECK_FALSE(five.all_have(out, "result.json"));
#endif

  std::jthread stops([] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
    ask_to_stop(SIGUSR1);
  });
  const std::map<std::string, int> stopped = five.train(out);  // trials that had not begun are missing
  stops.join();                                                // the signal may come after all trials have ended
  forget_stop();
  for (const auto& [id, status] : stopped) CHECK((status == 0 || status == 128 + SIGUSR1));

  for (const auto& [id, status] : five.train(out)) CHECK(status == 0);
  for (const auto& [id, files] : expected) CHECK((contents(out + "/" + id) == files));   // bytes, too many to print
  CHECK(memory(Device::cuda).bytes_held == held);                            // each population returns its memory
}

TEST_CASE("cuda: a model that fails does not stop the others of its population") {
  const OneThread one;
  const TemporaryFolder folder;
  const Population five;
  const Trial &diverges = *five.trials[1], &is_none = *five.trials[3];
  const auto expected = five.alone(folder / "alone", {&diverges, &is_none});
  const SweepFolder out(folder / "together");
  fs::create_directories(out.path());
  {
    State state(RunSpec(diverges.config()));
    Tensor first = state.params.entries().front().tensor;
    first.set(std::vector<real>(size_t(first.size()), std::numeric_limits<real>::quiet_NaN()).data());
    RunFolder::create(out.run(diverges), state);
  }
  fs::create_directory(out.run(is_none));
  const std::map<std::string, int> statuses = five.train(out.path());
  REQUIRE(statuses.size() == 5);
  for (const Trial* t : five.trials) {
    const bool fails = t == &diverges || t == &is_none;
    CHECK(statuses.at(t->id) == (t == &diverges ? 1 : t == &is_none ? 2 : 0));
    if (!fails) CHECK((contents(out.run(*t)) == expected.at(t->id)));
  }
  CHECK_MESSAGE(holds(last_line(out.log(diverges)), "training has diverged"), last_line(out.log(diverges)));
  CHECK(holds(last_line(out.log(is_none)), "poslab: "));
}

TEST_CASE("cuda: a queue has its own memory, and a limit") {
  add_backend(Device::cuda, cuda::as_backend());
  const int64_t in_use = memory(Device::cuda).bytes_in_use;
  std::vector<int> numbers(2);
  for (int& number : numbers)
    std::jthread([&] {
      const OwnQueue own(Device::cuda);
      number = queue_number();
      const int64_t before = memory(Device::cuda).bytes_in_use;
      const Tensor x = Tensor::full({1000}, 2, Device::cuda);
      CHECK(memory(Device::cuda).bytes_in_use >= before + 4000);
      CHECK(x.values()[999] == 2);
      CHECK_THROWS_AS(OwnQueue{Device::cuda}, Failure);
    }).join();
  CHECK(numbers[0] > 0);
  CHECK(numbers[1] == numbers[0]);                                           // memory was returned and used again
  CHECK(queue_number() == 0);
  CHECK(memory(Device::cuda).bytes_in_use == in_use);
}

#ifdef POSLAB_EMULATE
TEST_CASE("cuda: models that are trained one after the other, each in its own thread, share their memory") {
  add_backend(Device::cuda, cuda::as_backend());
  const auto held_after = [](const char* encoding) {
    std::jthread([&] {
      const OwnQueue own(Device::cuda);
      State s(tiny_config({{"encoding", encoding}, {"device", "cuda"}, {"batch", "4"}, {"train_length", "3"}}));
      for (int n = 0; n < 4; ++n) finish_step(s.config, start_step(s, draw_step(s.config, n)));
    }).join();
    return cuda::given().held;
  };
  held_after("relative");
  const int64_t held = held_after("rope");
  for (const char* encoding : {"relative", "rope", "relative"}) CHECK(held_after(encoding) == held);
}
#endif

// -- the program itself, on the CPU: trials one after the other, in a child process of the worker --------------------

TEST_CASE("population: on the CPU a sweep has the same results, also if its process is killed") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 4\nsteps = 400\n");
  const std::string straight = folder / "straight", out = folder / "together";
  CHECK(Program(folder, sweep.run(straight, "--jobs 1")).status() == 0);

  Program worker(folder, sweep.run(out, "--population 3"));
  const auto first_saved = [&] { return fs::exists(out + "/" + sweep.plan[0].id + "/clock.jsonl"); };
  CHECK(eventually(first_saved));
  const Counts now = count(states(sweep.plan, SweepFolder(out)));
  CHECK(now[TrialState::running] + now[TrialState::done] == 3);
  pid_t child = 0;
  std::ifstream(fmt::format("/proc/{0}/task/{0}/children", worker.process())) >> child;
  REQUIRE(child > 0);
  kill(child, SIGKILL);                                                      // the child of the worker
  CHECK(worker.status() == 0);
  CAPTURE(worker.output());
  CHECK(holds(worker.output(), "shard 0/1: 4 done\n"));
  CHECK(holds(read_file(out + "/journal.jsonl"), "\"stopped\""));
  for (const Trial& t : sweep.plan) CHECK((contents(out + "/" + t.id) == contents(straight + "/" + t.id)));
  for (const Trial& t : sweep.plan) CHECK_FALSE(fs::exists(SweepFolder(out).log(t)));

  const std::string stopped = folder / "stopped";
  Program other(folder, sweep.run(stopped, "--population 4"), "", "other");
  CHECK(eventually([&] { return fs::exists(stopped + "/" + sweep.plan[0].id + "/clock.jsonl"); }));
  other.send(SIGTERM);
  CHECK(other.status() == 143);
  CHECK(count(states(sweep.plan, SweepFolder(stopped)))[TrialState::running] == 0);
  CHECK(Program(folder, sweep.run(stopped, "--population 2"), "", "again").status() == 0);
  for (const Trial& t : sweep.plan) CHECK((contents(stopped + "/" + t.id) == contents(straight + "/" + t.id)));
}

TEST_CASE("population: on the CPU, too, a trial that fails does not stop the others, and its reason is kept") {
  const TemporaryFolder folder;
  const Sweep sweep(folder, "seeds = 3\nsteps = 30\n");
  const std::string out = folder / "out";
  const Trial& bad = sweep.plan[1];
  fs::create_directory(out);
  {
    State state(RunSpec(bad.config()));
    Tensor first = state.params.entries().front().tensor;
    first.set(std::vector<real>(size_t(first.size()), std::numeric_limits<real>::quiet_NaN()).data());
    RunFolder::create(SweepFolder(out).run(bad), state);
  }
  Program worker(folder, sweep.run(out, "--population 3"));
  CHECK(worker.status() == 1);
  CAPTURE(worker.output());
  CHECK(holds(worker.output(), "failed   " + bad.id + "  seed=1  the loss is nan"));
  CHECK(holds(worker.output(), "shard 0/1: 2 done, 1 failed\n"));
  const std::string failed = read_file(SweepFolder(out).failed(bad));
  CHECK(failed.starts_with("the loss is nan at step 1"));
}

}  // namespace poslab::test
