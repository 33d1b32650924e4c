// Did you mean: the entry of a list that is nearest to the typed word, or that was registered under that word.
#pragma once
#include <string>
#include <vector>

namespace poslab {

// Other words for a name, of papers, other programs or earlier days, registered where the thing is defined:
//   const OtherNames words("rope", {"rotary"});
// Dashes, underlines and capitals do not count. why: a sentence for a user who types such a word.
struct OtherNames {
  OtherNames(const std::string& name, const std::vector<std::string>& words, const std::string& why = "");
};

// A list whose names appear in answers about other lists: "randomized" is no encoding, and `unknown` says that it is a
// sampler. what: "a sampler (--positions)".
struct OtherList {
  OtherList(const std::string& what, std::vector<std::string> (*names)());
};

// The entry that is nearest to `said`; null if none is near.
const std::string* nearest(const std::string& said, const std::vector<std::string>& known);

// The number in `randomized(2048)` for the name "randomized"; else "".
std::string number_in_brackets(const std::string& said, const std::string& name);

// `unknown task "evn_pairs"; did you mean "even_pairs"? Known: even_pairs, ...`. A list of more than 20 is omitted
// where a nearest entry was found.
std::string unknown(const std::string& kind, const std::string& name, const std::vector<std::string>& known);

}  // namespace poslab
