// `poslab rerun FOLDER#ID`: one trial of a committed table once more (lab/runs/sweep/rerun.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds the options of `rerun`. The returned function runs the command after parsing.
std::function<void()> add_rerun(CLI::App* rerun);

}  // namespace poslab
