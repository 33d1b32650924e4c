// `poslab web`: the page that trains in the browser, with runs in it (lab/pages/web/web.h).
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

// Gives `web` its options. What is returned does it, after parsing.
std::function<void()> add_web(CLI::App* web);

}  // namespace poslab
