// Checks a tokenizer.model before sentencepiece reads it: sentencepiece does not check bounds in the file's table of
// characters, so a malicious file could make it read any memory.
#pragma once
#include <string>
#include <string_view>

namespace poslab {

// The bytes of a tokenizer.model; `path` is for messages. Throws BadInput if a table points outside itself, if the file
// is not a protobuf, or if it is a Unigram model with user-defined pieces: versions of sentencepiece before 0.2 prefer
// other pieces that overlap them, so they would read texts differently.
void check_sentencepiece_file(std::string_view model, const std::string& path);

}  // namespace poslab
