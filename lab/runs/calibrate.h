// Attention Bias Calibration of a run folder, as a file that `--encoding calibrated:of=@FILE` reads.
#pragma once
#include <string>

#include "experiment/calibrate.h"

namespace poslab {

// Writes a line for each head, LAYER.HEAD and its DISTANCE:BIAS pairs, below comments on the origin. device: "": the
// run's. Throws BadInput if the run is missing or cannot take the length, and as write_file() if it cannot write `out`.
Calibration write_calibration(const std::string& run, const Calibrating&, const std::string& out,
                              const std::string& device = "", bool force = false);

}  // namespace poslab
