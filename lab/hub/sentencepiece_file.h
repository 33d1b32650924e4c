// What a tokenizer.model holds, read before sentencepiece reads it. That follows a table by which characters change
// without a look at where it leads, so that one which a stranger made could have it read any memory.
#pragma once
#include <string>
#include <string_view>

namespace poslab {

// The bytes of a tokenizer.model; `path` is for messages. Throws BadInput where such a table leads out of itself, the
// file is no protobuf, or versions of sentencepiece read texts differently with it: those before 0.2 give way to other
// pieces where a user-defined one overlaps them in a Unigram model.
void check_sentencepiece_file(std::string_view model, const std::string& path);

}  // namespace poslab
