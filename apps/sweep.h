// `poslab sweep plan | run | status | collect | submit`: many runs as one (lab/sweep/).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Gives `sweep` its commands. What is returned runs the one that was chosen, after parsing.
std::function<void()> add_sweep(CLI::App* sweep);

}  // namespace poslab
