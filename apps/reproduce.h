// `poslab reproduce`: a source's tables and figures anew (lab/papers/reproduce.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Gives `reproduce` its options. What is returned does it, after parsing.
std::function<void()> add_reproduce(CLI::App* reproduce);

}  // namespace poslab
