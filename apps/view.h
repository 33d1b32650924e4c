// `poslab view RUN...`: attention maps at full resolution (lab/pages/view/view.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Gives `view` its options. What is returned does it, after parsing.
std::function<void()> add_view(CLI::App* view);

}  // namespace poslab
