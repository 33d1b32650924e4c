// Models on the CUDA backend against the CPU, step by step: by encoding, recorded and replayed, under a trace, with
// different roundings. Emulated if there is no GPU, as in tests/cuda/backend.cpp.
#include "cuda/backend.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "autograd/observe.h"
#include "autograd/tape.h"
#include "core/memory.h"
#include "experiment/evaluate.h"
#include "experiment/step.h"
#include "tests/cuda/helpers.h"
#include "tests/lab/helpers.h"
#include "tests/support/op_run.h"

namespace poslab::test {
namespace {

RunSpec small(const std::string& encoding, const std::string& positions, const std::string& device) {
  return tiny_config({{"encoding", encoding}, {"positions", positions}, {"device", device}, {"batch", "4"},
                      {"train_length", "3"}, {"eval_lengths", "1:4"}, {"eval_samples", "4"}});
}

// Counts the ops that are whole encoder blocks, and the ops that are the part of a block after attention.
struct BlockCount : TapeWatch {
  int blocks = 0, tails = 0;
  void after_forward(size_t, const char* op, const std::vector<Tensor>&, const std::vector<Tensor>&) override {
    blocks += std::string(op) == "encoder_block", tails += std::string(op) == "encoder_tail";
  }
  void before_backward(size_t) override {}
  void after_backward(size_t) override {}
};

Step step(State& s) { return finish_step(s.config, start_step(s, draw_step(s.config, s.adam.step))); }

}  // namespace

TEST_CASE("cuda: training equals the CPU's, and steps are recorded once") {
  const OneThread one;
  for (const std::string encoding : {"none", "sincos", "learned", "relative", "alibi", "rope", "geometric"})
    for (const std::string positions : {"sequential", "randomized"}) {
      INFO(encoding << " " << positions);
      State cpu(small(encoding, positions, "cpu")), gpu(small(encoding, positions, "cuda"));
      CHECK(gpu.params.device() == Device::cuda);
      for (int n = 0; n < 5; ++n) {
        const Step a = step(cpu), b = step(gpu);
        CHECK(b.length == a.length);
        CHECK(b.loss == doctest::Approx(a.loss).epsilon(1e-4));
        CHECK(b.grad_norm == doctest::Approx(a.grad_norm).epsilon(1e-3));
      }
      const auto there_and_here = [&](const State& s) { return evaluate(s, 4); };
      CHECK(there_and_here(gpu).loss == doctest::Approx(there_and_here(cpu).loss).epsilon(1e-3));
      // Emulation is slow.
      if (positions == "randomized" ? encoding != "relative" : encoding != "none" && encoding != "rope") continue;
      // A step of each length, 1 to 3, is recorded the first time, and again if memory has grown. After that it is
      // replayed, even if the model is tested in between.
      for (int n = 0; n < 18; ++n) step(gpu);
      const int before = cuda::recordings();
      for (int n = 0; n < 6; ++n) {
        step(gpu);
        if (n == 2) accuracy_at(gpu, 4, 2);
      }
      CHECK(cuda::recordings() == before);
    }
}

TEST_CASE("cuda: a model whose blocks are one kernel each is trained as on the CPU") {
  const OneThread one;
  const BlockKernels blocks;
  struct Line { const char *encoding, *positions; bool one_kernel; };
  for (const Line& line : {Line{"none", "sequential", true}, {"learned", "randomized", true},
                           {"relative", "sequential", true}, {"relative", "randomized", false},
                           {"alibi", "sequential", true}, {"t5", "sequential", true}, {"rope", "randomized", true},
                           {"none|rope", "sequential", true}, {"none*4+rope*4", "sequential", false},
                           {"geometric", "sequential", false}}) {
    INFO(line.encoding << " " << line.positions);
    const auto config = [&](const char* device) {
      RunSpec c(small(line.encoding, line.positions, device));
      return c.set("d_model", "64"), c.set("heads", "8"), c;
    };
    State cpu(config("cpu")), gpu(config("cuda"));
    for (int n = 0; n < 4; ++n) {
      const BlockCount count;
      const Step a = step(cpu), b = step(gpu);
      CHECK(count.blocks % gpu.config.whole("layers") == 0);  // a recorded step is computed twice
      if (line.one_kernel) CHECK(count.blocks > 0);
      else if (b.length > 1) CHECK(count.blocks == 0);         // two slots are always evenly spaced
      if (!line.one_kernel && b.length > 1) CHECK(count.tails > 0);
      CHECK(b.loss == doctest::Approx(a.loss).epsilon(1e-4));
      CHECK(b.grad_norm == doctest::Approx(a.grad_norm).epsilon(1e-3));
    }
    CHECK(evaluate(gpu, 4).loss == doctest::Approx(evaluate(cpu, 4).loss).epsilon(1e-3));
  }
}

TEST_CASE("cuda: runs with different roundings take turns in one process, each as if it were alone") {
  if (sizeof(real) == 8) return;         // doubles have only one rounding
  const OneThread one;
  const auto fresh = [](const char* how) {
    return State(tiny_config({{"device", "cuda"}, {"matmul", how}, {"batch", "4"}, {"train_length", "3"},
                              {"eval_lengths", "1:4"}, {"eval_samples", "4"}}));
  };
  struct Seen {
    std::vector<double> losses;
    void look(State& s) { losses.push_back(step(s).loss), losses.push_back(evaluate(s, 4).loss); }
  };
  const auto alone = [&](const char* how) {
    State s = fresh(how);
    Seen seen;
    for (int n = 0; n < 4; ++n) seen.look(s);
    return seen.losses;
  };
  const std::vector<double> fp32 = alone("fp32"), bf16 = alone("bf16");
  CHECK(fp32 != bf16);
  Seen first, second;
  State a = fresh("fp32"), b = fresh("bf16");
  for (int n = 0; n < 4; ++n) first.look(a), second.look(b);
  evaluate(b, 4);
  const double of_a = evaluate(a, 4).loss;
  CHECK(first.losses == fp32);
  CHECK(second.losses == bf16);
  CHECK(of_a == fp32.back());
  backend(Device::cuda).set_rounding(Rounding::fp32, Engine::own);
}

#ifndef POSLAB_EMULATE
// Emulated, these steps would take a day. In a hundred steps training amplifies a rounding error a thousandfold. So the
// CPU sets the tolerance: how much training differs if it starts from the neighbouring floats of these weights.
TEST_CASE("cuda: 100 steps of the paper's model differ from the CPU's as little as if its weights changed by a bit") {
  for (const std::string positions : {"sequential", "randomized"}) {
    const auto model = [&](const char* device) {
      return State(RunSpec(configure({{"task", "reverse_string"},
                                      {"encoding", "relative"},
                                      {"positions", positions},
                                      {"device", device},
                                      {"train_length", "20"},
                                      {"lr", "0.0001"}})));
    };
    State cpu = model("cpu"), rounded = model("cpu"), gpu = model("cuda");
    for (const auto& entry : rounded.params.entries()) {
      std::vector<real> w = entry.tensor.values();
      for (size_t i = 0; i < w.size(); ++i) w[i] = std::nextafter(w[i], i % 2 ? real(INFINITY) : -real(INFINITY));
      entry.tensor.set(w.data());
    }
    double off = 0, off_rounded = 0;
    for (int n = 0; n < 100; ++n) {
      const double loss = step(cpu).loss;
      off = std::max(off, std::abs(step(gpu).loss - loss));
      off_rounded = std::max(off_rounded, std::abs(step(rounded).loss - loss));
      if (n == 0) CHECK(off <= 1e-5);
    }
    MESSAGE("relative " << positions << ": losses of 100 steps differ by at most " << off
                        << ", those from rounded weights by " << off_rounded);
    CHECK(off <= 5 * off_rounded);
  }
}
#endif

TEST_CASE("cuda: a recorded step is replayed with other data, and allocates no memory") {
  RunSpec c(small("rope", "randomized", "cuda"));
  c.set("curriculum", "fixed");
  State s(c);
  step(s), step(s);
  const int recorded = cuda::recordings();
  const int64_t before = memory(Device::cuda).system_allocations;
  double last = 0;
  for (int n = 0; n < 10; ++n) {
    const double loss = step(s).loss;
    CHECK(loss != last);
    last = loss;
  }
  CHECK(cuda::recordings() == recorded);
  CHECK(memory(Device::cuda).system_allocations == before);
}

TEST_CASE("cuda: a trace sees and replaces updates, and changes nothing else") {
  State plain(small("rope", "randomized", "cuda")), traced(plain.config);
  for (int n = 0; n < 3; ++n) {
    std::map<std::string, std::vector<real>> before;
    for (const Params::Entry& e : traced.params.entries()) before[e.name] = e.tensor.values();
    Trace trace({"update.*"});
    if (n == 2) trace.replace("update.head.w", [](const std::string&, const Tensor& x) { return x * 0; });
    step(plain);
    finish_step(traced.config, start_step(traced, draw_step(traced.config, n), &trace));
    for (const Params::Entry& e : traced.params.entries()) {
      CAPTURE(e.name);
      const std::vector<real> after = e.tensor.values(), update = trace.captured.at("update." + e.name).values();
      for (size_t i = 0; i < after.size(); ++i) CHECK(update[i] == after[i] - before[e.name][i]);
      const bool stays = n == 2 && e.name == "head.w";
      CHECK((after == before[e.name]) == stays);
      CHECK((after == plain.params.at(e.name).values()) == !stays);
    }
  }
}

TEST_CASE("cuda: a gradient that is NaN or infinite changes no weights") {
  State s(small("none", "sequential", "cuda"));
  std::vector<real> w = s.params.at("head.b").values();
  w[0] = std::numeric_limits<real>::quiet_NaN();
  s.params.at("head.b").set(w.data());
  const std::vector<real> before = s.params.at("embedding").values();
  CHECK_THROWS_WITH_AS(step(s), doctest::Contains("training has diverged"), Failure);
  CHECK(s.params.at("embedding").values() == before);
}

}  // namespace poslab::test
