// A T5 of the Hugging Face form: a folder with config.json (T5ForConditionalGeneration: T5, T5 v1.1, LM-adapted,
// Flan-T5), model.safetensors or several such files with an index, and tokenizer.json or spiece.model. Weights stay in
// their files as in lab/hub/hf_model.h; unknown keys and tensors are refused by name.
#pragma once
#include <memory>
#include <string>

#include "lab/hub/keys.h"
#include "nn/t5_generate.h"
#include "tasks/language/tokenizer.h"

namespace poslab::t5 {

struct HfConfig {
  T5Spec spec;                                   // whether it is tied, the file of weights tells
  int trained_length = 512;                      // n_positions
  T5Generation writing{};                        // ends, beams, length_penalty and early_stopping
  std::string passed_over{};                     // a line on other keys of generation_config.json, or none
};
// `path` is for messages. Throws BadInput.
HfConfig hf_config(const std::string& text, const std::string& path);
// These options from generation_config.json; `passed_over` names its other keys. Throws BadInput: no such number.
void read_generation(const std::string& text, const std::string& path, HfConfig&);
// The name in such a checkpoint of a parameter of T5: "encoder.block3.attention.query" is
// "encoder.block.3.layer.0.SelfAttention.q.weight". "" for one that the form does not have.
std::string hf_name(const std::string& parameter, bool gated);
// How config.json says the activation: "relu", "gated-gelu".
std::string hf_activation(const T5Spec&);

struct HfModel {
  std::string folder;
  HfConfig config;
  T5 net;
};
// Throws BadInput: something of the model is missing, unknown, too much or of another shape; Failure: a file is
// damaged.
HfModel open_hf_model(const std::string& folder, Device = Device::cpu);

// The tokenizer in tokenizer.json or, without it, in spiece.model with <extra_id_0> ... after its tokens. Throws
// BadInput if there is neither file, if its form is not known, or if it has tokens that the model lacks.
std::shared_ptr<const Tokenizer> open_hf_tokenizer(const HfModel&);
// The encoder's input: the tokens, and after them the end of a text, which T5 was trained with.
std::vector<int> tokens_of(const HfModel&, const Tokenizer&, const std::string& text);
// Tokens as text, without a space at the beginning; tokens of padding are left out.
std::string text_of(const T5Spec&, const Tokenizer&, const std::vector<int>& tokens);

}  // namespace poslab::t5
