// tokenizer.model and spiece.model, the files of the library sentencepiece.
#include "lab/hub/t5_tokens.h"
#include "tests/tools/fuzz/target.h"

namespace poslab::fuzz {

Target tokenizer_model() {
  return {.name = "tokenizer_model",
          .sources = {"lab/hub/sentencepiece.cpp", "lab/hub/sentencepiece_file.cpp", "lab/hub/t5_tokens.cpp"},
          .read =
              [](const std::string& bytes) {
                const t5::Tokens tokens(bytes, "FILE", -1, 400);
                for (const char* words : {"a text, and 12 words", "caf\u00e9 \u4f60 <extra_id_0> </s>", "\xff"})
                  for (const int token : tokens.encode(words))
                    check_law(tokens.text(token).size() <= tokens.longest(), "no text of a token is longer");
              },
          .seeds =
              [] {
                return Strings{golden("sentencepiece/bpe.model"), golden("sentencepiece/unigram.model"),
                               golden("t5/v1_0/spiece.model")};
              }};
}

}  // namespace poslab::fuzz
