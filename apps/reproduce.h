// `poslab reproduce`: makes the tables and figures of a source again (lab/papers/reproduce.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds the options of `reproduce`. The returned function runs the command after parsing.
std::function<void()> add_reproduce(CLI::App* reproduce);

}  // namespace poslab
