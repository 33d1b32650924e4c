// Checkpoints of a model on the GPU, which is emulated if the machine has none.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <sstream>

#include "bench/serve.h"
#include "cuda/backend.h"
#include "experiment/step.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/room.h"
#include "lab/runs/run.h"
#include "lab/runs/whole_run.h"
#include "tests/experiment/small_kinds.h"
#include "tests/lab/helpers.h"
#include "tests/support/op_run.h"

namespace poslab::test {
namespace {

Step gpu_step(State& s) { return finish_step(s.config, start_step(s, draw_step(s.config, s.adam.step))); }

}  // namespace

TEST_CASE("cuda: checkpoints move between devices") {
  add_backend(Device::cuda, cuda::as_backend());
  State gpu(tiny_config({{"positions", "sequential"}, {"device", "cuda"}, {"batch", "4"}, {"train_length", "3"}}));
  for (int n = 0; n < 3; ++n) gpu_step(gpu);
  const std::string bytes = checkpoint_bytes(gpu);
  State cpu = checkpoint_state(bytes, "test", "cpu"), again = checkpoint_state(bytes, "test");
  CHECK(cpu.params.device() == Device::cpu);
  CHECK(again.params.device() == Device::cuda);
  CHECK(checkpoint_bytes(again) == bytes);
  CHECK(gpu_step(again).loss == doctest::Approx(gpu_step(cpu).loss).epsilon(1e-5));
}

TEST_CASE("cuda: a run that moves between devices keeps its rounding") {
  add_backend(Device::cuda, cuda::as_backend());
  State gpu(tiny_config({{"device", "cuda"}, {"matmul", "bf16"}, {"batch", "4"}, {"train_length", "3"}}));
  for (int n = 0; n < 3; ++n) gpu_step(gpu);
  const std::string bytes = checkpoint_bytes(gpu);
  State cpu = checkpoint_state(bytes, "test", "cpu");
  CHECK(cpu.config["matmul"] == "bf16");
  State fp32(tiny_config({{"batch", "4"}, {"train_length", "3"}}));      // the same weights, but no rounding
  Checkpoint(bytes, "test").read_into(fp32.params, fp32.adam);
  const double there = gpu_step(gpu).loss, here = gpu_step(cpu).loss, unrounded = gpu_step(fp32).loss;
  CHECK(std::abs(here - there) < 1e-4);
  CHECK(std::abs(here - there) < std::abs(unrounded - there) / 4);
  CHECK(checkpoint_state(checkpoint_bytes(cpu), "test", "cuda").config["matmul"] == "bf16");
}

TEST_CASE("cuda: the benchmark's model gives the CPU's answer to every line") {
  add_backend(Device::cuda, cuda::as_backend());
  const TemporaryFolder folder;
  const auto answers = [&](const std::string& device) {
    std::istringstream lines("warm steps 3+3 3+3\ncheck steps 3+3 " + folder / device + ".steps\ncheck eval 3+3 " +
                             folder / device + ".eval\nsteps 3+3\neval 3+3\n");
    std::ostringstream said;
    serve_encoder({{"task", "reverse_string"}, {"encoding", "relative"}, {"batch", "4"}, {"device", device}}, lines,
                  said);
    return std::ranges::count(said.str(), '\n');
  };
  CHECK(answers("cuda") == 6);
  CHECK(answers("cpu") == 6);
  for (const char* file : {"steps", "eval"}) {
    const auto numbers = [&](const char* device) {
      const std::string bytes = read_file(folder / (std::string(device) + "." + file));
      std::vector<float> x(bytes.size() / sizeof(float));
      std::memcpy(x.data(), bytes.data(), bytes.size());
      return x;
    };
    const std::vector<float> gpu = numbers("cuda"), cpu = numbers("cpu");
    REQUIRE(gpu.size() == cpu.size());
    double off = 0, largest = 0;
    for (size_t i = 0; i < cpu.size(); ++i)
      off = std::max(off, std::abs(double(gpu[i]) - cpu[i])), largest = std::max(largest, std::abs(double(cpu[i])));
    CHECK(largest > 0);
    CHECK(off <= 1e-5 * largest);
  }
}

// No kernel sums in a random order. The emulation always has the same order, so there this test finds only memory that
// is read before it is written.
TEST_CASE("cuda: two runs give checkpoints of equal bytes") {
  add_backend(Device::cuda, cuda::as_backend());
#ifdef POSLAB_EMULATE
  const Settings size = {{"layers", "2"}, {"heads", "2"}, {"d_model", "16"}, {"batch", "4"}, {"train_length", "3"}};
  const int steps = 12;
#else
  const Settings size = {{"train_length", "20"}};           // the paper's model
  const int steps = 300;
#endif
  for (const std::string positions : {"sequential", "randomized"}) {
    const auto trained = [&] {
      Settings all = size;
      all.insert(all.end(), {{"task", "reverse_string"}, {"encoding", "relative"}, {"positions", positions},
                             {"device", "cuda"}});
      State s(RunSpec(configure(all)));
      for (int n = 0; n < steps; ++n) gpu_step(s);
      return checkpoint_bytes(s);
    };
    INFO("relative " << positions << ", " << steps << " steps");
    CHECK((trained() == trained()));                         // bytes, too many to print
  }
}

TEST_CASE("cuda: runs of every kind continue on the other device, and are tested and inspected there") {
  add_backend(Device::cuda, cuda::as_backend());
  const OneThread one;
  const TemporaryFolder folder;
  for (bool from_gpu = true; const SmallKind& k : small_kinds()) {   // every second kind begins on the CPU
    const char *from = from_gpu ? "cuda" : "cpu", *to = from_gpu ? "cpu" : "cuda";
    from_gpu = !from_gpu;
    const std::string run = folder / (k.name + from), whole = folder / (k.name + "whole" + from);
    INFO(k.name << " from " << from);
    const auto config = [&](const std::string& out) {
      return RunSpec(k.kind.configure(overlaid(k.kind.table(), k.settings, {{"out", out}, {"device", from}})));
    };
    {
      Run begun = create_run(config(run)), at_once = create_run(config(whole));
      for (int n = 0; n < 3; ++n) step(*begun.learner);
      write_file(begun.folder.checkpoint(), checkpoint_bytes(*begun.learner));
      train(at_once.folder, *at_once.learner);
      write_file(at_once.folder.checkpoint(), checkpoint_bytes(*at_once.learner));
    }
    resume_run(run, {{"device", to}}, false);
    const auto loss_on = [](const std::string& folder, const char* device) {
      const Run r = open_run(folder);
      CHECK(r.learner->config()["device"] == device);
      return r.learner->test(r.learner->config())[0].row()["loss"];
    };
    CHECK(loss_on(run, to) == doctest::Approx(loss_on(whole, from)).epsilon(1e-3));
    CHECK(test_run(whole, {{"device", to}, {"eval_samples", "3"}}, {}, false).results.size() > 0);
    const auto on = [&](const std::string& name, const char* device) {      // from this checkpoint, with the optimizer
      train_run(k.kind, {{"from", whole}, {"optimizer", "keep"}, {"steps", "7"}, {"weight_decay", "0.1"},
                         {"device", device}, {"out", run + name}}, {}, false);
      return loss_on(run + name, device);
    };
    CHECK(on("-there", to) == doctest::Approx(on("-here", from)).epsilon(1e-3));
  }
}

TEST_CASE("cuda: a refusal for lack of memory names options with which the run fits, on either device") {
  add_backend(Device::cuda, cuda::as_backend());
  const Settings text = {{"text", "copy_grammar"}},
                 deep = {{"task", "reverse_string"}, {"encoding", "rope"}, {"layers", "256"}, {"d_model", "128"}};
  struct Large { const Kind& kind; Settings model, size; std::string remedy; };    // many inputs, or long inputs
  const Large all[] = {
      {language_kind(), text, {{"batch", "65536"}, {"train_length", "1024"}}, "accumulate"},
      {language_kind(), text, {{"batch", "1"}, {"train_length", "1048576"}}, "train-length"},
      {t5_kind(), {{"layers", "256"}}, {{"tokens", "1048576"}, {"train_length", "256"}}, "accumulate"},
      {t5_kind(), {{"layers", "256"}}, {{"tokens", "1048576"}, {"train_length", "1048576"}}, "train-length"},
      {answering_kind(), deep, {{"batch", "4096"}, {"train_length", "256"}}, "accumulate"},
      {strings_kind(), deep, {{"batch", "4096"}, {"train_length", "256"}}, "accumulate"}};
  for (const std::string device : {"cpu", "cuda"})
    for (const Large& l : all) {
      const RunSpec c(l.kind.configure(overlaid(l.kind.table(), {l.model, l.size, {{"device", device}}})));
      const std::string said = refusal([&] { check_memory(c); });
      INFO(said);
      CHECK(holds(said, device == "cpu" ? "; this machine has " : "; this GPU has left "));
      REQUIRE(holds(said, fmt::format(". --{} ", l.remedy)));
      Settings changed;
      std::istringstream words(said.substr(said.find(". --") + 2));
      for (std::string option, value; words >> option >> value && option.starts_with("--");) {
        std::ranges::replace(option, '-', '_');
        changed.emplace_back(option.substr(2), value);
      }
      CHECK_NOTHROW(check_memory(c.with(changed)));
    }
}

}  // namespace poslab::test
