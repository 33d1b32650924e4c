#include "lab/runs/room.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "core/parallel.h"
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

// Two significant digits, in groups of three: 250,000.
std::string about(double n) {
  const double unit = std::pow(10, std::max(0., std::floor(std::log10(n)) - 1));
  std::string text = fmt::format("{:.0f}", std::round(n / unit) * unit);
  for (size_t at = text.size(); at > 3;) text.insert(at -= 3, ",");
  return text;
}

}  // namespace

void check_memory(const Choices& c, size_t at_once) {
  const Footprint f = footprint(c);
  const double needed = f.bytes() * double(at_once), there = machine_bytes();
  if ((c.has("device") && device(c) != Device::cpu) || needed <= there) return;
  bad_input(
      "{}about {} of memory is needed: {} for {} parameters with their gradients and Adam, {} for a step ({}), {} "
      "for a test ({}); this machine has {}. Smaller ones need less; "
      "--force tries it all the same",
      at_once > 1 ? fmt::format("for {} trials at once ", at_once) : "", gigabytes(needed), gigabytes(f.state),
      about(f.parameters), gigabytes(f.step), f.of_step, gigabytes(f.test), f.of_test, gigabytes(there));
}

void check_memory(const std::vector<Choices>& trials, size_t at_once) {
  const Choices* largest = nullptr;
  double most = 0;
  for (const Choices& c : trials) {
    const double bytes = c.has("device") && device(c) != Device::cpu ? 0 : footprint(c).bytes();
    if (bytes > most) most = bytes, largest = &c;
  }
  if (largest) check_memory(*largest, std::min(at_once, trials.size()));
}

std::string estimate(const Choices& c, int64_t done) {
  const Footprint f = footprint(c);
  const Work w = work(c);
  const double rate = flops_a_thread * threads();
  return fmt::format("about {} parameters and {} of memory; on {} training takes about {}, testing {}",
                     about(f.parameters), gigabytes(f.bytes()), counted(size_t(threads()), "thread"),
                     clock_time(double(c.count("steps") - done) * w.step / rate), clock_time(w.test / rate));
}

double estimated_seconds(const Choices& c, int threads) {
  const Work w = work(c);
  return (double(c.count("steps")) * w.step + w.test) / (flops_a_thread * threads);
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
      parts = fmt::format(": {} for the model of {} parameters, {}", gigabytes(model), about(u.parameters),
                          gigabytes(u.takes.bytes));
    bad_input(
        "about {} of memory is needed{} for {} ({}); this machine has {}. Smaller ones need less; --force tries it all "
        "the same",
        gigabytes(needed), parts, u.what, u.with, gigabytes(there));
  }
  const double seconds = u.takes.flops / (flops_a_thread * threads());
  if (Progress::shown && (seconds >= few_seconds || needed >= few_bytes))
    tell(log_of_thread(), "{} takes about {} of memory and, on {}, about {}\n", u.what, gigabytes(needed),
         counted(size_t(threads()), "thread"), clock_time(seconds));
}

}  // namespace poslab
