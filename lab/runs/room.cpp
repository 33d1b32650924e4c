#include "lab/runs/room.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/platform/parallel.h"
#include "experiment/build.h"
#include "lab/files/memory.h"
#include "lab/files/progress.h"
#include "lab/files/shell.h"

namespace poslab {
namespace {

// What products of these sizes reach on a core of today, about (docs/speed.md); machines differ by a factor of 3.
constexpr double flops_a_thread = 50e9;
// Below both, nobody waits or wonders.
constexpr double few_seconds = 10, few_bytes = 1e9;

bool on_cpu(const Choices& c) { return !c.has("device") || device(c) == Device::cpu; }

struct Seconds { double training, testing; };
Seconds seconds_of(const RunSpec& c, int threads, int64_t done = 0) {
  const Work w = work(c);
  const double rate = flops_a_thread * threads;
  return {double(c.count("steps") - done) * w.step / rate, w.test / rate};
}

}  // namespace

void check_memory(const RunSpec& c, size_t at_once) {
  const Footprint f = footprint(c);
  const double needed = f.bytes() * double(at_once), there = machine_bytes();
  if (!on_cpu(c) || needed <= there) return;
  bad_input(
      "{}about {} of memory is needed: {} for {} parameters with their gradients and Adam, {} for a step ({}), {} "
      "for a test ({}); this machine has {}. Smaller ones need less; "
      "--force starts it anyway",
      at_once > 1 ? fmt::format("for {} trials at once ", at_once) : "", gigabytes(needed), gigabytes(f.state),
      rounded(f.parameters), gigabytes(f.step), f.of_step, gigabytes(f.test), f.of_test, gigabytes(there));
}

void check_time(const RunSpec& c, int threads, int64_t done) {
  if (!on_cpu(c)) return;
  const Seconds s = seconds_of(c, threads, done);
  if (s.training + s.testing <= month) return;
  const Footprint f = footprint(c);
  bad_input(
      "training takes about {} (steps = {}, {}) and testing {} ({}), on {}: more than a month. Smaller or fewer ones "
      "take less; --force starts it anyway",
      clock_time(s.training), c["steps"], f.of_step, clock_time(s.testing), f.of_test,
      counted(size_t(threads), "thread"));
}

void check_room(const std::vector<Choices>& trials, size_t at_once, int threads) {
  std::optional<RunSpec> largest;
  double most = 0;
  for (const RunSpec c : trials) {
    check_time(c, threads);
    const double bytes = on_cpu(c) ? footprint(c).bytes() : 0;
    if (bytes > most) most = bytes, largest = c;
  }
  if (largest) check_memory(*largest, std::min(at_once, trials.size()));
}

std::string estimate(const RunSpec& c, int64_t done) {
  const Footprint f = footprint(c);
  const Seconds s = seconds_of(c, threads(), done);
  return fmt::format("about {} parameters and {} of memory; on {} training takes about {}, testing {}",
                     rounded(f.parameters), gigabytes(f.bytes()), counted(size_t(threads()), "thread"),
                     clock_time(s.training), clock_time(s.testing));
}

double estimated_seconds(const RunSpec& c, int threads) {
  const Seconds s = seconds_of(c, threads);
  return s.training + s.testing;
}

Use use_of(const Learner& l, const std::string& what, const Taken& takes, const std::string& with) {
  return {what, takes, with, double(l.params().count()), l.params().device()};
}

void begin(const Use& u, bool force) {
  if (u.device != Device::cpu) return;
  const double model = 4 * u.parameters * sizeof(real), needed = model + u.takes.bytes, there = machine_bytes();
  if (needed > there && !force) {
    std::string parts;
    if (model)
      parts = fmt::format(": {} for the model of {} parameters, {}", gigabytes(model), rounded(u.parameters),
                          gigabytes(u.takes.bytes));
    bad_input(
        "about {} of memory is needed{} for {} ({}); this machine has {}. Smaller ones need less; --force tries it all "
        "the same",
        gigabytes(needed), parts, u.what, u.with, gigabytes(there));
  }
  const double seconds = u.takes.flops / (flops_a_thread * threads());
  if (seconds > month && !force)
    bad_input("{} takes about {} on {}{}: more than a month. Smaller or fewer ones take less; --force tries it all the "
              "same",
              u.what, clock_time(seconds), counted(size_t(threads()), "thread"),
              u.with.empty() ? "" : fmt::format(" ({})", u.with));
  if (Progress::shown && (seconds >= few_seconds || needed >= few_bytes))
    tell(log_of_thread(), "{} takes about {} of memory and, on {}, about {}\n", u.what, gigabytes(needed),
         counted(size_t(threads()), "thread"), clock_time(seconds));
}

}  // namespace poslab
