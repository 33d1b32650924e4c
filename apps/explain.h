// `poslab explain KIND NAME`: what a task, an encoding, a sampler, a temperature policy or a preset is.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>

namespace poslab {

// Gives `explain` its words. What is returned does it, after parsing.
std::function<void()> add_explain(CLI::App* explain);

// The same, as `poslab list KINDS NAME` asks for it. Throws BadInput with did-you-mean.
std::string explained(const std::string& kind, const std::string& name);

}  // namespace poslab
