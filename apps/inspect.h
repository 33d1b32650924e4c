// `poslab inspect RUN...`: trained runs seen from inside (lab/inspect/).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds the options of `inspect`. The returned function runs the command after parsing.
std::function<void()> add_inspect(CLI::App* inspect);

}  // namespace poslab
