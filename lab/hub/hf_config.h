// config.json of a checkpoint of the Hugging Face form: LLaMA and its relatives (the families of hf_config.cpp) as
// transformers defines them. Every key is either understood, known to change no result, or refused by name: if poslab
// computed a model in another way than its authors, it would only look like a bad model.
#pragma once
#include <string>
#include <vector>

#include "lab/hub/hf_names.h"
#include "lab/hub/hf_rope.h"
#include "lab/hub/keys.h"
#include "nn/decoder.h"
#include "nn/generate.h"

namespace poslab {

struct HfConfig {
  DecoderSpec spec;
  HfForm form{};                                 // the form of its weights
  HfRope rope{};                                 // its positions
  int trained_length = 0;                        // max_position_embeddings, whatever the window or scaling
  std::vector<int> begin{};                      // bos_token_id: the token that begins a text, or none
  std::vector<int> ends{};                       // eos_token_id: tokens that end a text
  TokenChoice choice{.temperature = 0.8};        // how tokens are drawn by default
  std::string passed_over{};                     // a line about ignored keys of generation_config.json, or ""
};
// `path` is for messages. Throws BadInput.
HfConfig hf_config(const std::string& text, const std::string& path);

// Reads generation_config.json, the authors' defaults for writing: bos_token_id, eos_token_id, temperature, top_k and
// top_p, each if given; if do_sample is false, the most probable token is taken. Other keys change no logits and are
// ignored; `passed_over` lists keys that would change the text. Missing keys have the defaults of `poslab lm
// generate`, not those of transformers, which takes the most probable token or draws from the 50 most probable. Throws
// BadInput for a text that is not a JSON object, and for a wrong value of any of these keys except bos_token_id.
void read_generation(const std::string& text, const std::string& path, HfConfig&);

extern const char* const names_of_families;  // "LLaMA, Mistral, ... and Gemma 3"
// Ignores the keys that all architectures share and that change no result: names, comments and training.
void pass_over_harmless(Keys& config);
// eos_token_id: a token's number, a list of them, or none. Throws BadInput.
std::vector<int> ends_of(Keys& config);
// "PATH: repetition_penalty, min_p would change the text, but poslab ignores them", for the unread keys of a
// generation_config.json; "" if none has an effect.
std::string keys_passed_over(Keys& generation);
// Refuses an unread key. models: "LLaMA, Mistral and Qwen 2". Throws BadInput with the key.
void refuse_left_over(Keys& config, const std::string& models);

}  // namespace poslab
