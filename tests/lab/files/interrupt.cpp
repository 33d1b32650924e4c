// A stop in the middle of a step (core/stop.h): the step is abandoned at once, the checkpoint has the last complete
// step, and a run resumed from it has the same bits.
#include <fcntl.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <memory>

#include "autograd/tape.h"
#include "core/platform/parallel.h"
#include "core/stop.h"
#include "experiment/build.h"
#include "experiment/step.h"
#include "lab/files/interrupt.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/run_folder.h"
#include "tasks/baselines.h"
#include "tasks/batch.h"
#include "tasks/bignum.h"
#include "tasks/task.h"
#include "tests/lab/helpers.h"
#include "tests/lab/learners.h"

using namespace poslab;
using namespace poslab::test;

namespace {

// Processor seconds of all programs that have ended.
double seconds_of_children() {
  rusage all{};
  getrusage(RUSAGE_CHILDREN, &all);
  const auto seconds = [](const timeval& t) { return double(t.tv_sec) + double(t.tv_usec) / 1e6; };
  return seconds(all.ru_utime) + seconds(all.ru_stime);
}

// In the program the flag stays set until it ends; these tests go on, so it is reset. No progress is shown.
struct Calm {
  Calm() {
    std::fflush(stderr);
    if (const int nowhere = ::open("/dev/null", O_WRONLY); nowhere >= 0) ::dup2(nowhere, STDERR_FILENO);
  }
  ~Calm() {
    stop_requested = false, set_threads(threads_before);
    ::dup2(said_before, STDERR_FILENO);
  }
  int threads_before = threads(), said_before = ::dup(STDERR_FILENO);
};

// A layer that attends like another one and calls `passed` twice a step: in the forward and in the backward pass.
struct Watched : Encoding {
  std::unique_ptr<Encoding> real_one;
  std::function<void()> passed;
  Watched(std::unique_ptr<Encoding> e, std::function<void()> f) : real_one(std::move(e)), passed(std::move(f)) {}

  Tensor attend(const Heads& in, const Tensor& v, const Positions& p, const Span& span) const override {
    passed();
    const Tensor x = real_one->attend(in, v, p, span), y = Tensor::from(x.shape(), x.values());
    return record("watched", y, {x}, [this, x](const real* dy) {
      passed();
      const Accumulator dx = x.grad_accumulator();
      for (int64_t i = 0; i < x.size(); ++i) dx.at[i] = dx.empty ? dy[i] : dx.at[i] + dy[i];
    });
  }
};

State watched(const RunSpec& c, const std::function<void()>& passed) {
  State s(c);
  TransformerSpec spec = transformer_spec(c);
  spec.encoding.thing.make = [make = spec.encoding->make, passed](
                                 const LayerParams& p, const ModelShape& m, const Choices& o,
                                 int layer) -> std::unique_ptr<Encoding> {
    return std::make_unique<Watched>(make(p, m, o, layer), passed);
  };
  s.params = Params(uint64_t(c.count("seed")));
  s.net = Transformer(s.params, spec);
  s.params.pack();
  s.adam = Adam(s.params, c.number("lr"));
  s.adam.clip = c.number("clip");
  return s;
}

std::string file(const RunFolder& run, const char* name) { return read_file(run.file(name)); }

}  // namespace

TEST_CASE("stop: a run that is stopped within a step, forward or backward, continues with the same bits") {
  const TemporaryFolder folder;
  const Calm at_the_end;
  const RunSpec c(tiny_config({{"steps", "9"}, {"checkpoint_every", "4"}}));
  State whole(c), six(c);
  const RunFolder undisturbed = RunFolder::create(folder / "undisturbed", whole);
  train(undisturbed, whole);
  while (six.adam.step < 6) finish_step(c, start_step(six, draw_step(c, six.adam.step)));
  REQUIRE(c.whole("layers") == 2);  // four calls a step: forward in layers 0 and 1, backward in 1 and 0
  for (int thread_count : {1, 2})
    for (int place = 0; place < 4; ++place) {
      CAPTURE(thread_count);
      CAPTURE(place);
      set_threads(thread_count);
      int passed = 0;
      State s = watched(c, [&] {
        if (passed++ == 6 * 4 + place) stop_requested = true;
      });
      const RunFolder run = RunFolder::create(folder / fmt::format("{}-{}", thread_count, place), s);
      std::string said;
      try {
        train(run, s);
      } catch (const Interrupted& e) { said = e.what(); }
      CHECK(
          holds(said, "stopped in the middle of step 7 of 9, and all steps before it are saved; go on with `po"));
      CHECK(passed == 6 * 4 + place + 1);  // nothing was computed after the stop
      CHECK(tape_length() == 0);
      stop_requested = false;
      CHECK(file(run, "checkpoint.safetensors") == checkpoint_bytes(six));  // step 4 was due; 5 and 6 are not lost
      const std::string metrics = file(run, "metrics.jsonl");
      CHECK(std::count(metrics.begin(), metrics.end(), '\n') == 6);

      State again = run.load();
      train(run, again);
      for (const char* name : {"checkpoint.safetensors", "metrics.jsonl"})
        CHECK_MESSAGE(file(run, name) == file(undisturbed, name), name);
    }
}

TEST_CASE("stop: kernels skip their remaining pieces, and then nothing reads the result") {
  const Calm at_the_end;
  for (int thread_count : {1, 2}) {
    set_threads(thread_count);
    const auto pieces_done = [&] {
      std::atomic<int> done = 0;
      stop_requested = false;
      parallel_for(1000, [&](int64_t) {
        if (++done >= 10) stop_requested = true;  // on any thread, because that of the tenth piece may not have begun
      });
      return done.load();
    };
    CHECK(pieces_done() == 1000);  // outside a Stoppable the whole result is needed
    Stoppable may(true);
    const int done = pieces_done();
    CHECK((done >= 10 && done <= 10 + thread_count));
    CHECK_THROWS_AS(may.complete(), Stopped);
    CHECK(pieces_done() == 1000);
    stop_requested = false;
    Stoppable(true).complete();  // nothing was skipped
    Stoppable whole(true);
    {
      const Stoppable trace(false);  // this one may not stop, but the enclosing one has stopped already
      CHECK(pieces_done() < 1000);
    }
    CHECK(pieces_done() < 1000);
  }
}

TEST_CASE("stop: the baselines of a long string end between two answers, or within one") {
  const Calm at_the_end;
  int answers = 0;
  const Task copy = completed({.name = "copy",
                               .output_length = as_long_as_input,
                               .answer = [&](const Tokens& x) {
                                 if (++answers == 25) stop_requested = true;
                                 return x;
                               }});
  CHECK_THROWS_AS(baselines(copy, 3, 10, 0), Stopped);
  CHECK(answers == 25);  // ten to fit, ten to score, and five of the 51 orders of the first input
  const Natural four = from_bits({0, 0, 1});
  CHECK_THROWS_AS(isqrt(four), Stopped);
  Rng rng({1, 0, 0});
  const Task& brackets = task("modular_arithmetic_brackets");
  const Tokens x = brackets.input(rng, 20);
  CHECK_THROWS_AS(brackets.shuffled(x, rng), Stopped);
  stop_requested = false;
  CHECK(to_bits(isqrt(four)) == Tokens{0, 1});
  CHECK(brackets.shuffled(x, rng).size() == 20);
}

TEST_CASE("stop: SIGTERM and Ctrl-C end a step of several minutes within two seconds") {
  const TemporaryFolder folder;
  const Settings long_steps = {{"encoding", "alibi"},     {"positions", "sequential"}, {"layers", "1"},  {"batch", "1"},
                               {"train_length", "20000"}, {"eval_lengths", "1:2"},     {"threads", "1"}, {"heads", "8"},
                               {"d_model", "64"}};
  const RunSpec c(tiny_config(long_steps));
  REQUIRE(draw_length(c, 0) > 5000);
  std::vector<std::pair<int, std::unique_ptr<Program>>> all;
  for (int signal : {SIGTERM, SIGINT}) {
    const std::string run = folder / std::to_string(signal);
    all.emplace_back(signal, std::make_unique<Program>(
                                 folder, fmt::format("train {} --out {} --force", tiny_options(long_steps), run), "",
                                 fmt::format("said{}", signal)));
  }
  for (auto& [signal, p] : all) {
    REQUIRE(eventually([&] { return std::filesystem::exists(folder / std::to_string(signal)); }));
    const double before = p->processor_seconds();
    REQUIRE(eventually([&] { return p->processor_seconds() > before + 0.5; }));       // the step has begun
  }
  double used = 0;                                               // of both processes only: others may run
  for (auto& [signal, p] : all) used -= p->processor_seconds();
  for (auto& [signal, p] : all) p->send(signal);
  const double others = seconds_of_children();
  for (auto& [signal, p] : all) CHECK(p->status() == 128 + signal);
  used += seconds_of_children() - others;
  CHECK(used < 20);                                              // two seconds each, unless a tool slows them down
  for (auto& [signal, p] : all) {
    CHECK(holds(p->output(), "stopped in the middle of step 1 of 40, and all steps before it are saved"));
    CHECK(read_file(folder / std::to_string(signal) + "/checkpoint.safetensors") == checkpoint_bytes(State(c)));
  }
}
