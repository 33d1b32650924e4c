#include "lab/runs/evaluate.h"

#include <fmt/format.h>

#include "core/profile.h"
#include "core/stop.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"

namespace poslab {

std::vector<AtLength> evaluate(const State& state) {
  const char* stopped = "stopped while testing; no result was changed";
  const Lengths lengths = state.config.lengths("eval_lengths");
  state.test_net();  // a temperature of another model is refused before anything is shown
  std::vector<AtLength> all;
  Profile profile("testing", "length", state.params.device());
  Progress progress("testing", "lengths", 0, lengths.to - lengths.from + 1);
  progress.at(0, fmt::format("length {}", lengths.from));
  for (int length = lengths.from; length <= lengths.to; ++length) {
    try {
      all.push_back(evaluate(state, length));
    } catch (const Stopped&) { throw Interrupted(caught_signal(), stopped); }
    profile.next();
    progress.at(int64_t(all.size()), fmt::format("length {}  accuracy {:5.1f} %", length, 100 * all.back().accuracy));
    if (const int signal = caught_signal()) throw Interrupted(signal, stopped);
  }
  return all;
}

}  // namespace poslab
