// config.json of a checkpoint of the Hugging Face form: LlamaForCausalLM, MistralForCausalLM or Qwen2ForCausalLM as
// transformers defines them. Every key is either understood, known to change no result, or refused by name: a model
// that computes something else than its authors wanted would look like a bad one.
#pragma once
#include <string>
#include <vector>

#include "nn/decoder.h"

namespace poslab {

struct HfConfig {
  DecoderSpec spec;
  int trained_length = 0;                        // max_position_embeddings, whatever window or scaling there is
  double base = 10000;                           // of its rotations
  std::vector<int> ends{};                       // eos_token_id: tokens that end a text
};
// `path` is for messages. Throws BadInput.
HfConfig hf_config(const std::string& text, const std::string& path);

// The name in such a checkpoint of a parameter of Decoder: "block3.attention.query" is
// "model.layers.3.self_attn.q_proj.weight". "" for one that the form does not have.
std::string hf_name(const std::string& parameter);

}  // namespace poslab
