// The work that a step queues on a GPU, compared with the figures in docs/gpu.md.
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <fstream>
#include <sstream>

#include "cuda/backend.h"
#include "encodings/sinusoid.h"
#include "experiment/step.h"
#include "tests/cuda/helpers.h"
#include "tests/lab/helpers.h"
#include "tests/core/allocations.h"
#include "tests/support/op_run.h"
#include "tests/support/places.h"

namespace poslab::test {

#ifdef POSLAB_EMULATE
TEST_CASE("cuda: in a count without computing, the host reads zeros, whatever memory contains") {
  const Tensor nan = Tensor::full({64}, real(NAN)).to(Device::cuda);
  CHECK(std::isnan(nan.values()[0]));
  const cuda::NothingRuns nothing;
  for (const real x : nan.values()) CHECK(x == 0);
}

TEST_CASE("cuda: sinusoids have the CPU's bits; for whole positions the GPU is sent only the numbers of rows it has") {
  const auto kilobytes = [](std::vector<double> positions) {
    positions.resize(256, 3);
    const int64_t before = cuda::given().bytes;
    const Tensor there = sinusoid(positions, 64, Device::cuda);
    CHECK(there.values() == sinusoid(positions, 64).values());
    return double(cuda::given().bytes - before - 256 * 64 * int64_t(sizeof(real))) / 1024;  // but not those read here
  };
  kilobytes({0});                                   // the first call uploads the rows
  CHECK(kilobytes({0, -1, 5, 2000, -2048}) < 2);
  for (const double other : {0.5, -7.25, 1e9}) CHECK(kilobytes({other}) >= 256 * 64 * int(sizeof(real)) / 1024);
  kilobytes({-3000});                               // a position beyond the rows of the first call
  CHECK(kilobytes({3000, -2999}) < 2);
}

// The paper's model, without computing: launches and copies of a step, and the host's time. Fewer launches, copies and
// allocations are better: when a number falls, lower its bound. Times are printed and have no bound.
TEST_CASE("cuda: launches and copies of a step, and its time on the host") {
  const OneThread one;
  fmt::print("\nA step on a GPU that does nothing, batch 128: what it is given, and the host's median microseconds\n"
             "{:<10} {:<10} {:>7} {:<8} {:>8} {:>6} {:>7} {:>11} {:>6} {:>7}\n",
             "encoding", "positions", "slots", "blocks", "launches", "copies", "KB", "allocations", "draw", "queue");
  std::ostringstream page;                               // docs/gpu.md must state the same counts
  page << std::ifstream(fmt::format("{}/docs/gpu.md", source_folder)).rdbuf();
  struct Line { const char *encoding, *positions; int length, launches, kilobytes, allocations; bool fused; };
  for (const Line& line :
       {Line{"none", "sequential", 40, 83, 105, 800, false}, {"none", "sequential", 40, 32, 105, 380, true},
        {"rope", "randomized", 40, 105, 107, 1100, false}, {"rope", "randomized", 40, 32, 107, 495, true},
        {"relative", "sequential", 20, 87, 55, 970, false}, {"relative", "sequential", 20, 37, 55, 540, true},
        {"relative", "sequential", 40, 87, 106, 970, false}, {"relative", "sequential", 40, 38, 106, 540, true},
        {"relative", "randomized", 40, 95, 153, 925, false}, {"relative", "randomized", 40, 68, 153, 880, true},
        {"geometric", "sequential", 40, 279, 105, 2380, false},
        {"geometric", "sequential", 40, 254, 105, 2330, true}}) {
    const bool doubles = sizeof(real) > sizeof(float);                       // doubles fill the room for sums sooner
    if (doubles && line.fused && line.length == 40) continue;                // they would need too much shared memory
    const BlockKernels blocks(line.fused);
    State s(RunSpec(configure({{"task", "reverse_string"}, {"encoding", line.encoding}, {"positions", line.positions},
                               {"device", "cuda"}, {"curriculum", "fixed"},
                               {"train_length", fmt::format("{}", line.length)}})));
    const cuda::NothingRuns nothing;
    std::vector<double> drawing, queueing;
    cuda::Given before, after;
    int64_t allocated = 0;
    for (int n = 0; n < 203; ++n) {
      using Clock = std::chrono::steady_clock;
      const auto start = Clock::now();
      StepInputs drawn = draw_step(s.config, s.adam.step);
      const auto drew = Clock::now();
      before = cuda::given(), allocated = allocations();
      finish_step(s.config, start_step(s, std::move(drawn)));
      const auto end = Clock::now();
      after = cuda::given(), allocated = allocations() - allocated;
      if (n < 3) continue;                               // skips the first steps: one of them is recorded
      const auto us = [](auto span) { return std::chrono::duration<double, std::micro>(span).count(); };
      drawing.push_back(us(drew - start)), queueing.push_back(us(end - drew));
    }
    const auto median = [](std::vector<double>& x) { return std::sort(x.begin(), x.end()), x[x.size() / 2]; };
    const int64_t launches = after.launches - before.launches, kilobytes = (after.bytes - before.bytes) / 1024;
    fmt::print("{:<10} {:<10} {:>7} {:<8} {:>8} {:>6} {:>7} {:>11} {:>6.0f} {:>7.0f}\n", line.encoding, line.positions,
               fmt::format("{0}+{0}", line.length), line.fused ? "fused" : "op by op", launches,
               after.copies - before.copies, kilobytes, allocated, median(drawing), median(queueing));
    CHECK(launches > 0);
    CHECK(launches <= line.launches + (doubles ? 8 : 0));
    CHECK(after.copies - before.copies == 4);            // one copy for all uploads; three for loss, logits and norm
    CHECK(kilobytes <= line.kilobytes * (doubles ? 2 : 1));
    CHECK(double(allocated) <= line.allocations * (doubles ? 1.2 : 1));
    const std::string row = fmt::format("| {0} | {1} | {2}+{2} | {3} | {4} | 4 | {5} |", line.encoding, line.positions,
                                        line.length, line.fused ? "fused" : "op by op", launches, kilobytes);
    CHECK_MESSAGE((doubles || page.str().find(row) != std::string::npos), "docs/gpu.md lacks ", row);
  }
}
#endif

}  // namespace poslab::test
