#include "lab/runs/calibrate.h"

#include <fmt/format.h>

#include <memory>

#include "apps/all_commands.h"
#include "apps/number_option.h"
#include "core/error.h"
#include "core/names.h"
#include "lab/files/shell.h"

namespace poslab {
namespace {

struct CalibrateWords {
  std::string run, along = "mean", layers = "each", device, out = "calibration.txt";
  Calibrating how;
  bool force = false;
};

void run(CalibrateWords w) {
  if (w.along != "mean" && w.along != "sum") raise<BadInput>(unknown("--along", w.along, {"mean", "sum"}));
  if (w.layers != "each" && w.layers != "last") raise<BadInput>(unknown("--layers", w.layers, {"each", "last"}));
  w.how.sum = w.along == "sum", w.how.last_layer = w.layers == "last";
  const Calibration made = write_calibration(w.run, w.how, w.out, w.device, w.force);
  size_t distances = 0, empty = 0;
  for (const SlotBiases& head : made.of_heads) distances += head.size(), empty += head.empty();
  fmt::print(
      "{}: {} heads of {} layers look at {:.1f} distances each{}\n"
      "train with it: poslab train --encoding {} ...\n",
      w.out, made.heads, made.layers, double(distances) / double(made.of_heads.size()),
      empty ? fmt::format("; in {} no distance stands out, so they have no bias", empty) : "",
      shell_word("calibrated:of=@" + w.out));
}

}  // namespace

std::function<void()> add_calibrate(CLI::App* calibrate) {
  const auto w = std::make_shared<CalibrateWords>();
  calibrate->add_option("run", w->run, "the run folder")->required();
  add_number(calibrate, "length", w->how.length, "input length of the strings", {1, 1 << 20}, "the longest trained");
  add_number(calibrate, "samples", w->how.samples, "strings to average over", {1, 8000}, "64");
  add_number(calibrate, "deviations", w->how.deviations, "keep distances this many standard deviations above the mean",
             {-10, 10}, "0.87");
  calibrate->add_option("--along", w->along, "the mean of a diagonal, or the sum, as in the released code")
      ->type_name("mean | sum  (mean)");
  calibrate->add_option("--layers", w->layers, "biases for each layer, or the last layer's for all, as released")
      ->type_name("each | last  (each)");
  add_device(calibrate, w->device);
  add_force(calibrate, w->force);
  calibrate->add_option("-o,--out", w->out, "the file to write")->type_name("FILE  (calibration.txt)");
  return [=] { run(*w); };
}

}  // namespace poslab
