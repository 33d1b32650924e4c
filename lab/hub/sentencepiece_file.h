// A check of a tokenizer.model before sentencepiece reads it. sentencepiece does not check bounds in the file's table
// of characters, so a malicious file could make it read any memory.
#pragma once
#include <string>
#include <string_view>

namespace poslab {

// The bytes of a tokenizer.model; `path` is for messages. Throws BadInput if a table points outside itself, if the
// file is not a protobuf, or if versions of sentencepiece read texts differently with it: in a Unigram model, versions
// before 0.2 prefer other pieces to a user-defined one that overlaps them.
void check_sentencepiece_file(std::string_view model, const std::string& path);

}  // namespace poslab
