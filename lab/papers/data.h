// artifacts.toml, which travels inside the program: names, texts and trials of artifacts, sizes, models and methods.
#pragma once
#include <toml++/toml.h>

#include "lab/papers/artifact.h"

namespace poslab::reproduce {

const toml::table& data();
const toml::table& data(const std::string& section);        // "ruoss2023.code"
std::string text_in(const toml::node&, const char* key);    // of a table; "" without the key
std::vector<std::string> words_in(const toml::node& list);  // a list of texts, or a single text

// "rerope:window={train_length/4}" with values in place of names in braces. A multiple or a fraction of a value is
// rounded down to a whole number, at least 1.
using ValueOf = std::function<std::string(const std::string& name)>;
std::string filled(std::string text, const ValueOf&);
ValueOf value_in(const Choices&);  // of an option, or "longest", the longest tested length
ValueLists lists_in(const toml::node& table, const ValueOf&);
Trials trials_in(const std::string& artifact, const Choices& defaults);  // "ruoss2023:table1"

}  // namespace poslab::reproduce
