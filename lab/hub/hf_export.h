// A trained model in the Hugging Face form, for other programs: config.json, model.safetensors and, unless the text is
// a made-up language, tokenizer.json and tokenizer_config.json. It becomes a LlamaForCausalLM or, with the scheme
// `window`, a MistralForCausalLM.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "experiment/language/language.h"

namespace poslab::language {

// Makes the folder. Throws BadInput if it exists, or with the reason why the form cannot express this model. tokens: if
// the model's tokenizer came from another checkpoint of this form, the tokenizer's files, by name and bytes.
using TokenFiles = std::vector<std::pair<std::string, std::string>>;
void export_hf(const State&, const Source&, const std::string& folder, const TokenFiles& tokens = {});

// The vocabulary as a tokenizer.json. Throws BadInput if two tokens have the same bytes, which the form cannot express.
std::string hf_tokenizer_json(const Vocabulary&);

}  // namespace poslab::language
