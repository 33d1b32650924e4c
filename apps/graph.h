// `poslab graph RUN`: the tape of a training step as a picture (lab/pages/graph/graph.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Gives `graph` its options. What is returned does it, after parsing.
std::function<void()> add_graph(CLI::App* graph);

}  // namespace poslab
