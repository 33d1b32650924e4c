// Explanations of a task, an encoding, a sampler, a temperature policy or a preset, for `explain` and `list`.
#pragma once
#include <string>
#include <vector>

namespace poslab {

// For `poslab list KINDS NAME`. Throws BadInput with did-you-mean.
std::string explained(const std::string& kind, const std::string& name);

// The explainable kinds: the word for KIND, the names in it, and a function that prints one.
struct ExplainedKind {
  std::string name;
  std::vector<std::string> (*names)();
  std::string (*text)(const std::string& spelling);
};
const std::vector<ExplainedKind>& explained_kinds();

// An encoding as NumPy code, from python/poslab/formulas, which is embedded in the program: its file after the files
// that it imports, with the names of files for other options. A spelling with options gets the file of these options,
// else the file of its name; a line on stderr says if the file's numbers differ from the spelling's. Throws BadInput
// for a composition, and with did-you-mean for an unknown name.
std::string in_numpy(const std::string& encoding);

}  // namespace poslab
