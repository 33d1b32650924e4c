// `poslab show ENCODING [OTHER]`: what schemes and samplers do, drawn.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds the words of `show`. The returned function runs the command after parsing.
std::function<void()> add_show(CLI::App* show);

}  // namespace poslab
