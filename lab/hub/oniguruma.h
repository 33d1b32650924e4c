// Oniguruma's regular expressions as PCRE2's. Reads what tokenizers are made of: literals, . and classes, general
// categories as \p{Lu}, groups, look-around, ? * + {n,m}, and (?i:...) of ASCII letters. Leaves out, and refuses: what
// means something else in PCRE2, as ^, \h, \b, [[:alpha:]], [a&&b] and {2}+, and references.
#pragma once
#include <string>

namespace poslab {

// where: for messages. Throws BadInput.
std::string to_pcre2(const std::string& oniguruma, const std::string& where);

}  // namespace poslab
