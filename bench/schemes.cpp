#include "bench/all.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <ctime>

#include "core/debug.h"
#include "core/platform/isa.h"
#include "core/platform/parallel.h"
#include "core/profile.h"
#include "experiment/build.h"
#include "experiment/step.h"

namespace poslab {
namespace {

constexpr int length = 20, rounds = 5;

// Processor time: on one thread it is the time of the work, without that of other programs.
template <class Run>
double milliseconds(const Run& run) {
  const std::clock_t start = std::clock();
  run();
  return 1e3 * double(std::clock() - start) / CLOCKS_PER_SEC;
}

struct Side {
  State state;
  double ms = 1e9;   // time of the fastest step

  Side(const std::string& encoding, bool causal)
      : state(RunSpec(
            configure({{"task", "reverse_string"}, {"encoding", encoding}, {"causal", causal ? "on" : "off"}}))) {}

  void step() { finish_step(state.config, start_step(state, draw_step(state.config, state.adam.step, length))); }
  void time() { ms = std::min(ms, milliseconds([&] { step(); })); }

  // The cost of a step, per token of the batch.
  Cost cost() {
    set_debug_level(2), clear_profile_totals();
    step();
    set_debug_level(0);
    Cost all;
    for (const ProfileTotals& k : profile_totals()) all.flops += k.cost.flops, all.bytes += k.cost.bytes;
    const double tokens = state.config.whole("batch") * double(slots(state.config, length));
    return {all.flops / tokens, all.bytes / tokens};
  }
};

}  // namespace

void time_schemes(const std::string& filter) {
  set_threads(1);
  fmt::print("# one thread, {}\n", isa());
  fmt::print("scheme,mask,ms,none_ms,flops,bytes\n");
  for (const Scheme& s : all_encodings()) {
    if (s.name.find(filter) == s.name.npos) continue;
    const bool causal = !s.causal_only(Choices(s.name, s.options)).empty();
    Side with(s.name, causal), without("none", causal);
    const Cost more = with.cost(), base = without.cost();   // warms up, too
    for (int round = 0; round < rounds; ++round) with.time(), without.time();
    fmt::print("{},{},{:.2f},{:.2f},{:.0f},{:.0f}\n", s.name, causal ? "causal" : "none", with.ms, without.ms,
               more.flops - base.flops, more.bytes - base.bytes);
    std::fflush(stdout);
  }
}

}  // namespace poslab
