// The rotary positions of a checkpoint of the Hugging Face form: rope_theta, and rope_scaling (or, as transformers
// writes since version 5, rope_parameters) with one of the types default, linear, dynamic, yarn, longrope and llama3.
// poslab has a scheme for each type, with pairs of channels half a head apart.
#pragma once
#include <optional>
#include <string>

#include "core/choices.h"
#include "lab/hub/keys.h"

namespace poslab {

struct HfRotation {
  std::string encoding = "none";                 // as choose_encoding reads it
  double base = 10000;
  double fraction = 1;                           // the share of a head's channels that are rotated, its first ones
  int original = 0;                              // original_max_position_embeddings; 0: not in the file
};
// The rotation of all layers; or one for the layers that see all keys, and another for those with a sliding window.
struct HfRope {
  HfRotation full{};
  std::optional<HfRotation> sliding{};
  std::vector<bool> slides{};                    // for each layer, if `sliding` is set
  std::string encoding() const;                  // the whole model's encoding, layers in turn
};
// The rotations that a family's config.json may describe.
struct HfRopeForm {
  int longest, head_dim;                         // max_position_embeddings; channels
  bool phi = false;                              // Phi-3: heads may rotate in part; a scaled rotation is LongRoPE
  std::vector<bool> slides{};                    // Gemma 3: layers with a sliding window and their own rotation
};
// Throws BadInput for a type or a key that is not known, naming it, and for lists that do not fit heads of that size.
HfRope hf_rope(Keys& config, const HfRopeForm&);

// The reverse: a scheme as keys of config.json. Throws BadInput, with the reason, for one that the form cannot express.
struct HfRopeKeys {
  Keys::json rope_parameters;
  std::optional<int> longest{};                  // the required max_position_embeddings, if it matters
  int window = 0;                                // a sliding window, as in Mistral
};
HfRopeKeys hf_rope_keys(const std::string& encoding, int head_dim);

// The scheme that a user names for such a model, or a composition. Options that the name leaves open are the model's:
// its base, its pairing, and its trained length, which is `original` or, where the file lacks that, trained_length.
// Layers with a sliding window and a rotation of their own keep that rotation, unless the user gives a scheme for each
// layer: "rerope|rope".
std::string for_hf_model(const std::string& encoding, const HfRope&, int trained_length);

}  // namespace poslab
