// `poslab web`: the page that trains in the browser, with runs in it (lab/pages/web/web.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Adds the options of `web`. The returned function runs the command after parsing.
std::function<void()> add_web(CLI::App* web);

}  // namespace poslab
