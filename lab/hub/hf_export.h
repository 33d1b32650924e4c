// A trained model in the Hugging Face form, so that other programs run it: config.json, model.safetensors and, unless
// the text is a made-up language, tokenizer.json and tokenizer_config.json. It becomes a
// LlamaForCausalLM, with the scheme `window` a MistralForCausalLM.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "experiment/language/language.h"

namespace poslab::language {

// Makes the folder. Throws BadInput: it is there already; or with the reason why the form cannot say this model.
// tokens: files of the source's tokenizer, by name and bytes, where that is of another checkpoint of this form.
using TokenFiles = std::vector<std::pair<std::string, std::string>>;
void export_hf(const State&, const Source&, const std::string& folder, const TokenFiles& tokens = {});

// The vocabulary as a tokenizer.json. Throws BadInput where two tokens have the same bytes, which the form cannot say.
std::string hf_tokenizer_json(const Vocabulary&);

}  // namespace poslab::language
