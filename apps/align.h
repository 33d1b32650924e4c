// `poslab align RUN`: temperatures at which attention over long inputs is as peaked as over short ones
// (lab/runs/align.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Gives `align` its options. What is returned does it, after parsing.
std::function<void()> add_align(CLI::App* align);

}  // namespace poslab
