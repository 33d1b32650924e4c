// `poslab explain [KIND] NAME`: what a task, an encoding, a sampler, a temperature policy or a preset is.
#pragma once
#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

namespace poslab {

// Gives `explain` its words. What is returned does it, after parsing.
std::function<void()> add_explain(CLI::App* explain);

// The same, as `poslab list KINDS NAME` asks for it. Throws BadInput with did-you-mean.
std::string explained(const std::string& kind, const std::string& name);

// What there is to explain: the words that may stand in KIND, which names each has, and what is printed of one.
struct ExplainedKind {
  std::string name;
  std::vector<std::string> (*names)();
  std::string (*text)(const std::string& spelling);
};
const std::vector<ExplainedKind>& explained_kinds();

}  // namespace poslab
