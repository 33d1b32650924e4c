// `poslab lm`: train, resume, eval and generate, for language models.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>

namespace poslab {

std::function<void()> add_lm(CLI::App*);   // declares the options; returns the command

}  // namespace poslab
