// `poslab explain [KIND] NAME`: explains a task, an encoding, a sampler, a temperature policy or a preset.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace poslab {

// Adds the words of `explain`. The returned function runs the command after parsing.
std::function<void()> add_explain(CLI::App* explain);

// The same, as `poslab list KINDS NAME` asks for it. Throws BadInput with did-you-mean.
std::string explained(const std::string& kind, const std::string& name);

// The kinds that can be explained: the word for KIND, the names in it, and a function that prints one.
struct ExplainedKind {
  std::string name;
  std::vector<std::string> (*names)();
  std::string (*text)(const std::string& spelling);
};
const std::vector<ExplainedKind>& explained_kinds();

}  // namespace poslab
