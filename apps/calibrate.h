// `poslab calibrate RUN`: where the heads of a trained run look, as the bias of another (lab/runs/calibrate.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Gives `calibrate` its options. What is returned does it, after parsing.
std::function<void()> add_calibrate(CLI::App* calibrate);

}  // namespace poslab
