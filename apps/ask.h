// `poslab ask RUN STRING...`: a trained run asked about strings of one's own (lab/ask/).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Gives `ask` its options. What is returned does it, after parsing.
std::function<void()> add_ask(CLI::App* ask);

}  // namespace poslab
