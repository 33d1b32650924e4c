// `poslab ask RUN STRING...`: a trained run asked about strings of one's own (lab/ask/).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds the options of `ask`. The returned function runs the command after parsing.
std::function<void()> add_ask(CLI::App* ask);

}  // namespace poslab
