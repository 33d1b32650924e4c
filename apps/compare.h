// The command `poslab compare` (lab/compare/).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds its options and its help. The returned function runs the command.
std::function<void()> add_compare(CLI::App* compare);

}  // namespace poslab
