// `poslab align RUN`: temperatures at which attention over long inputs is as peaked as over short ones
// (lab/runs/align.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds the options of `align`. The returned function runs the command after parsing.
std::function<void()> add_align(CLI::App* align);

}  // namespace poslab
