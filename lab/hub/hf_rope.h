// How a checkpoint of the Hugging Face form says its rotary positions: rope_theta, and rope_scaling (or, as
// transformers writes since version 5, rope_parameters) with one of the types default, linear, dynamic, yarn, longrope
// and llama3. Each is a scheme here, with pairs of channels half a head apart.
#pragma once
#include <optional>
#include <string>

#include "core/choices.h"
#include "lab/hub/keys.h"

namespace poslab {

struct HfRope {
  std::string encoding;                          // as choose_encoding reads it
  double base = 10000;
};
// longest: max_position_embeddings. Throws BadInput for a type or a key that is not known, naming it, and for lists
// that do not fit heads of so many channels.
HfRope hf_rope(Keys& config, int longest, int head_dim);

// The other way: how config.json says a scheme. Throws BadInput, with the reason, for one that the form cannot say.
struct HfRopeKeys {
  Keys::json rope_parameters;
  std::optional<int> longest{};                  // what max_position_embeddings has to be, if that matters
  int window = 0;                                // a sliding window, as Mistral has it
};
HfRopeKeys hf_rope_keys(const std::string& encoding, int head_dim);

// The scheme that a user names for such a model: options that the name leaves open are the model's, namely its base,
// its pairing and its trained length. Compositions too.
std::string for_hf_model(const std::string& encoding, double base, int trained_length);

}  // namespace poslab
