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
  T5Spec spec;                                   // tied or not: this depends on the file of weights
  int trained_length = 512;                      // n_positions
  T5Generation writing{};                        // ends, beams, length_penalty and early_stopping
  std::string passed_over{};                     // a line about ignored keys of generation_config.json, or ""
};
// `path` is for messages. Throws BadInput.
HfConfig hf_config(const std::string& text, const std::string& path);
// Sets `writing` from generation_config.json; `passed_over` names its other keys. Throws BadInput for a wrong number.
void read_generation(const std::string& text, const std::string& path, HfConfig&);
// The name of a T5's parameter in such a checkpoint: "encoder.block3.attention.query" is
// "encoder.block.3.layer.0.SelfAttention.q.weight". "" for one that the form lacks.
std::string hf_name(const std::string& parameter, bool gated);
// The spelling of the activation in config.json: "relu", "gated-gelu".
std::string hf_activation(const T5Spec&);

struct HfModel {
  std::string folder;
  HfConfig config;
  T5 net;
};
// Throws BadInput if part of the model is missing, unknown, superfluous or of another shape; Failure if a file is
// damaged.
HfModel open_hf_model(const std::string& folder, Device = Device::cpu);

// The tokenizer in tokenizer.json or, without it, in spiece.model with <extra_id_0> ... after its tokens. Throws
// BadInput if both files are missing, if the form is unknown, or if it has tokens that the model lacks.
std::shared_ptr<const Tokenizer> open_hf_tokenizer(const HfModel&);
// The encoder's input: the tokens, then the end of a text, as in T5's training.
std::vector<int> tokens_of(const HfModel&, const Tokenizer&, const std::string& text);
// Tokens as text, without a leading space and without padding.
std::string text_of(const T5Spec&, const Tokenizer&, const std::vector<int>& tokens);

}  // namespace poslab::t5
