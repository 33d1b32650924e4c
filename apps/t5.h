// `poslab t5`: encoder-decoders that find things in long contexts.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds its commands and their options; the result runs the one that was typed.
std::function<void()> add_t5(CLI::App* t5);

}  // namespace poslab
