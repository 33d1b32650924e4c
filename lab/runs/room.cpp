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

// The approximate speed of products of these sizes on a core (docs/speed.md); machines differ by a factor of 3.
constexpr double flops_a_thread = 50e9;
// Below both, no estimate is printed.
constexpr double few_seconds = 10, few_bytes = 1e9;

double bytes_there(Device d) { return d == Device::cpu ? machine_bytes() : backend(d).free_bytes(); }
const char* there_in_words(Device d) { return d == Device::cpu ? "this machine has" : "this GPU has left"; }

// The remedy for a run that does not fit: the same steps in parts, or else shorter strings or windows.
std::string remedy(const RunSpec& c, double bytes) {
  const auto fits = [&](const Settings& changed) { return footprint(c.with(changed)).bytes() <= bytes; };
  const int most = c.has("batch") ? c.whole("batch") : std::max(1, c.whole("tokens") / c.whole("train_length")),
            shortest = std::max(16, c.has("shortest") ? c.whole("shortest") : 0);
  for (int parts = 2 * c.whole("accumulate"); parts / 2 < std::min(most, 4096); parts *= 2)
    if (const int n = std::min({parts, most, 4096}); fits({{"accumulate", fmt::format("{}", n)}}))
      return fmt::format("--accumulate {} makes the same steps fit", n);
  for (int length = c.whole("train_length") / 2; length >= shortest; length /= 2) {
    Settings shorter = {{"train_length", fmt::format("{}", length)}};
    std::string told = fmt::format("--train-length {}", length);
    if (c.has("tokens")) {                         // as many questions, each shorter
      const int tokens = std::min(c.whole("tokens"), most * length);
      shorter.emplace_back("tokens", fmt::format("{}", tokens)), told += fmt::format(" --tokens {}", tokens);
    }
    if (fits(shorter)) return told + " makes it fit";
  }
  return "Smaller values need less";
}

struct Seconds { double training, testing; };
Seconds seconds_of(const RunSpec& c, int threads, int64_t done = 0) {
  const Work w = work(c);
  const double rate = flops_a_thread * threads;
  return {double(c.count("steps") - done) * w.step / rate, w.test / rate};
}

}  // namespace

void check_memory(const RunSpec& c, size_t at_once) {
  const Footprint f = footprint(c);
  const Device where = device(c);
  const double needed = f.bytes() * double(at_once), there = bytes_there(where);
  if (needed <= there) return;
  bad_input(
      "{}about {} of memory is needed: {} for {} parameters with their gradients and Adam, {} for a step ({}), {} "
      "for a test ({}); {} {}. {}; --force starts it anyway",
      at_once > 1 ? fmt::format("for {} trials at once ", at_once) : "", gigabytes(needed), gigabytes(f.state),
      rounded(f.parameters), gigabytes(f.step), f.of_step, gigabytes(f.test), f.of_test, there_in_words(where),
      gigabytes(there), remedy(c, there / double(at_once)));
}

void check_time(const RunSpec& c, int threads, int64_t done) {
  if (device(c) != Device::cpu) return;
  const Seconds s = seconds_of(c, threads, done);
  if (s.training + s.testing <= month) return;
  const Footprint f = footprint(c);
  bad_input(
      "training takes about {} (steps = {}, {}) and testing {} ({}), on {}: more than a month. Smaller "
      "values take less; --force starts it anyway",
      clock_time(s.training), c["steps"], f.of_step, clock_time(s.testing), f.of_test,
      counted(size_t(threads), "thread"));
}

void check_room(const std::vector<Choices>& trials, size_t at_once, int threads) {
  std::optional<RunSpec> largest;
  double most = 0;
  for (const Choices& trial : trials) {
    const RunSpec c(trial);
    check_time(c, threads);
    const double bytes = footprint(c).bytes();
    if (bytes > most) most = bytes, largest = c;
  }
  if (largest) check_memory(*largest, std::min(at_once, trials.size()));
}

std::string estimate(const RunSpec& c, int64_t done) {
  const Footprint f = footprint(c);
  const Seconds s = seconds_of(c, threads(), done);
  std::string takes =
      fmt::format("about {} parameters and {} of memory", rounded(f.parameters), gigabytes(f.bytes()));
  if (device(c) != Device::cpu) return takes;
  return fmt::format("{}; on {} training takes about {}, testing {}", takes, counted(size_t(threads()), "thread"),
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
  const double model = 4 * u.parameters * sizeof(real), needed = model + u.takes.bytes, there = bytes_there(u.device);
  const bool made = u.device != Device::cpu;  // the model already takes this much of the GPU's memory
  if ((made ? u.takes.bytes : needed) > there && !force) {
    std::string parts;
    if (model)
      parts = fmt::format(": {} for the model of {} parameters, {}", gigabytes(model), rounded(u.parameters),
                          gigabytes(u.takes.bytes));
    bad_input(
        "about {} of memory is needed{} for {} ({}); {} {}. Smaller values need less; --force tries it anyway",
        gigabytes(needed), parts, u.what, u.with, there_in_words(u.device), gigabytes(there));
  }
  if (made) return;
  const double seconds = u.takes.flops / (flops_a_thread * threads());
  if (seconds > month && !force)
    bad_input("{} takes about {} on {}{}: more than a month. A smaller run takes less; --force tries it anyway",
              u.what, clock_time(seconds), counted(size_t(threads()), "thread"),
              u.with.empty() ? "" : fmt::format(" ({})", u.with));
  if (Progress::shown && (seconds >= few_seconds || needed >= few_bytes))
    tell(log_of_thread(), "{} takes about {} of memory and, on {}, about {}\n", u.what, gigabytes(needed),
         counted(size_t(threads()), "thread"), clock_time(seconds));
}

}  // namespace poslab
