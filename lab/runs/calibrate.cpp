#include "lab/runs/calibrate.h"

#include <fmt/format.h>

#include <algorithm>

#include "lab/files/files.h"
#include "lab/files/version.h"
#include "lab/runs/output.h"
#include "lab/runs/room.h"
#include "lab/runs/run_folder.h"
#include "lab/runs/unreached.h"

namespace poslab {

Calibration write_calibration(const std::string& run, const Calibrating& how, const std::string& out,
                              const std::string& device, bool force) {
  check_output("-o", out, {{"", "a list of numbers", "# Attention Bias Calibration"}});
  const State state = RunFolder::open(run).load(device);
  const RunSpec& c = state.config;
  begin({.what = "calibrating",
         .takes = calibration_takes(c, how),
         .with = fmt::format("length {}", how.length ? how.length : c.whole("train_length")),
         .parameters = double(state.params.count()),
         .device = state.params.device()},
        force);
  tell_untrained(c, how.length, "--length");
  const Calibration made = calibrate(state, how);
  if (std::all_of(made.of_heads.begin(), made.of_heads.end(), [](const SlotBiases& head) { return head.empty(); }))
    bad_input("--deviations {}: no distance of any head is so far above the mean; use a smaller number",
              how.deviations);
  const std::string text = fmt::format(
      "# Attention Bias Calibration of a run of {}, {}, after {} steps, by {}.\n"
      "# {} strings of length {}; the {} of the attention along a diagonal{}; mean + {} standard deviations are kept.\n"
      "# LAYER.HEAD, then KEY SLOT - QUERY SLOT:BIAS. Train with it: --encoding calibrated:of=@FILE\n",
      c["task"], c["encoding"], state.adam.step, version_line(), how.samples,
      how.length ? how.length : c.whole("train_length"), how.sum ? "sum" : "mean",
      how.last_layer ? " of the last layer" : "", how.deviations);
  write_file(out, text + text_of(made, "\n") + "\n");
  return made;
}

}  // namespace poslab
