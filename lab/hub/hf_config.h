// config.json of a checkpoint of the Hugging Face form: LlamaForCausalLM, MistralForCausalLM or Qwen2ForCausalLM as
// transformers defines them. Every key is either understood, known to change no result, or refused by name: a model
// that computes something else than its authors wanted would look like a bad one.
#pragma once
#include <string>
#include <vector>

#include "lab/hub/keys.h"
#include "nn/decoder.h"
#include "nn/generate.h"

namespace poslab {

struct HfConfig {
  DecoderSpec spec;
  int trained_length = 0;                        // max_position_embeddings, whatever window or scaling there is
  double base = 10000;                           // of its rotations
  std::vector<int> ends{};                       // eos_token_id: tokens that end a text
  TokenChoice choice{.temperature = 0.8};        // how tokens are drawn, unless the user says otherwise
};
// `path` is for messages. Throws BadInput.
HfConfig hf_config(const std::string& text, const std::string& path);

// generation_config.json, how the authors want a model to write: eos_token_id, temperature, top_k and top_p, each where
// it is given, and the most probable token where do_sample is false. Other keys are passed over, as none changes what
// the model computes. What is not given is as in `poslab lm generate`; transformers then takes the most probable token,
// or draws from the 50 most probable ones. Throws BadInput: no JSON object, or one of these is no such number.
void read_generation(const std::string& text, const std::string& path, HfConfig&);

// What all architectures have in common. Passes over keys of names, remarks and training.
void pass_over_harmless(Keys& config);
// eos_token_id: a token's number, a list of them, or none. Throws BadInput.
std::vector<int> ends_of(Keys& config);
// Refuses a key that nobody asked for. models: "LLaMA, Mistral and Qwen 2". Throws BadInput, naming it.
void refuse_left_over(Keys& config, const std::string& models);

// The name in such a checkpoint of a parameter of Decoder: "block3.attention.query" is
// "model.layers.3.self_attn.q_proj.weight". "" for one that the form does not have.
std::string hf_name(const std::string& parameter);

}  // namespace poslab
