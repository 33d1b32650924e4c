// `poslab view RUN...`: attention maps at full resolution (lab/pages/view/view.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds the options of `view`. The returned function runs the command after parsing.
std::function<void()> add_view(CLI::App* view);

}  // namespace poslab
