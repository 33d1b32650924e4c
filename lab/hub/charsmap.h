// The table by which a tokenizer.model changes characters before it looks for pieces. sentencepiece follows its numbers
// without a look at where they lead, so one that a stranger made could have it read any memory. This looks first.
#pragma once
#include <string>
#include <string_view>

namespace poslab {

// The bytes of a tokenizer.model; `path` is for messages. Throws BadInput where such a table leads out of itself, or
// the file is no protobuf.
void check_charsmaps(std::string_view model, const std::string& path);

}  // namespace poslab
