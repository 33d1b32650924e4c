// `poslab check SCHEME`: the checks of a scheme and their results.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds the words of `check`. The returned function runs it after parsing, and throws Failure if a check fails.
std::function<void()> add_check(CLI::App* check);

}  // namespace poslab
