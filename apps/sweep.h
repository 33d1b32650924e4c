// `poslab sweep plan | run | status | collect | submit`: many runs as one (lab/sweep/).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds the commands of `sweep`. The returned function runs the chosen one after parsing.
std::function<void()> add_sweep(CLI::App* sweep);

}  // namespace poslab
