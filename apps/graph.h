// `poslab graph RUN`: the tape of a training step as a picture (lab/pages/graph/graph.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds the options of `graph`. The returned function runs the command after parsing.
std::function<void()> add_graph(CLI::App* graph);

}  // namespace poslab
