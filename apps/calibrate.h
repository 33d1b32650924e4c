// `poslab calibrate RUN`: where the heads of a trained run look, as the bias of another (lab/runs/calibrate.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds the options of `calibrate`. The returned function runs the command after parsing.
std::function<void()> add_calibrate(CLI::App* calibrate);

}  // namespace poslab
