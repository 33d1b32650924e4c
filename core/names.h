// "Did you mean": suggests the entry of a list that is nearest to a typed word, or that was registered under that word.
#pragma once
#include <string>
#include <vector>

namespace poslab {

// Other words for a name, from papers or other programs. They are registered where the name is defined:
//   const OtherNames words("rope", {"rotary"});
// Dashes, underscores and capitals do not count. why: a sentence for the message to a user who types such a word.
struct OtherNames {
  OtherNames(const std::string& name, const std::vector<std::string>& words, const std::string& why = "");
};

// The entry that is nearest to `typed`; null if none is near.
const std::string* nearest(const std::string& typed, const std::vector<std::string>& known);

// A message: `unknown task "evn_pairs"; did you mean "even_pairs"? Known: even_pairs, ...`. More than 20 known names
// are left out if one is near, or if `elsewhere` says where to find them, such as "`poslab train --help`".
// `advice` gives a better message for some names, such as names of another list (lab/files/advice.h).
using Advice = std::string (*)(const std::string& kind, const std::string& name, const std::vector<std::string>& known);
inline Advice advice = nullptr;   // it returns "" for all other names
std::string unknown(const std::string& kind, const std::string& name, const std::vector<std::string>& known,
                    const std::string& elsewhere = "");

}  // namespace poslab
