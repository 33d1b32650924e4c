// tokenizer.json with byte-pair merges, and texts that are tokenized with it.
#include "lab/files/json.h"
#include "lab/hub/hf_tokenizer.h"
#include "tests/tools/fuzz/target.h"

namespace poslab::fuzz {

Target tokenizer_json() {
  return {.name = "tokenizer_json",
          .sources = {"lab/hub/hf_tokenizer.cpp", "lab/hub/hf_pieces.cpp", "lab/hub/hf_added.cpp",
                      "lab/hub/hf_decoder.cpp", "lab/hub/regex.cpp", "lab/hub/oniguruma.cpp"},
          .read =
              [](const std::string& text) {
                const HfTokenizer tokens(text, "FILE");
                for (const char* words : {"a text, and 12 words", "caf\u00e9 \u4f60\n\tx", "\xff <|endoftext|> </s>"})
                  for (const int token : tokens.encode(words)) {
                    check_law(token >= 0 && token < tokens.size(), "a token has a number below their count");
                    check_law(tokens.text(token).size() <= tokens.longest(), "no text of a token is longer");
                  }
              },
          .seeds =
              [] {
                Strings all;
                const Json cases = parse_json(golden("tokenizers.json"), "tokenizers.json");
                for (const Json& of : cases["tokenizers"]) all.push_back(of["tokenizer"].dump());
                return all;
              },
          .words =
              [] {
                return Strings{"\"Split\"",
                               "\"Regex\"",
                               "\"Prepend\"",
                               "\"Replace\"",
                               "\"Metaspace\"",
                               "\"byte_fallback\":true",
                               "\"ignore_merges\":true",
                               "\"added_tokens\":[",
                               "\"TemplateProcessing\"",
                               "\"fuse_unk\":true",
                               "\"\\\\s+\"",
                               "(?:"};
              }};
}

}  // namespace poslab::fuzz
