// `poslab t5 generate` and `poslab t5 export`.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// They add a command's options; the result runs it.
std::function<void()> add_t5_generate(CLI::App*);
std::function<void()> add_t5_export(CLI::App*);

}  // namespace poslab
