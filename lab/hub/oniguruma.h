// Translates regular expressions of Oniguruma to PCRE2. Reads what tokenizers use: literals, . and classes, general
// categories such as \p{Lu}, groups, look-around, ? * + {n,m}, and (?i:...) with ASCII letters. Refuses back
// references, and expressions that mean something else in PCRE2: ^, \h, \b, [[:alpha:]], [a&&b], {2}+ and others.
#pragma once
#include <string>

namespace poslab {

// where: for messages. Throws BadInput.
std::string to_pcre2(const std::string& oniguruma, const std::string& where);

}  // namespace poslab
