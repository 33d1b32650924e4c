// `poslab inspect RUN...`: trained runs seen from inside (lab/inspect/).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Gives `inspect` its options. What is returned does it, after parsing.
std::function<void()> add_inspect(CLI::App* inspect);

}  // namespace poslab
