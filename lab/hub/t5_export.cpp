#include "lab/hub/t5_export.h"

#include <filesystem>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/safetensors.h"
#include "lab/hub/t5_hf.h"

namespace poslab::t5 {
namespace {

using json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  bad_input("{} cannot be exported: {}", what, why);
}

json config_json(const T5Spec& s, const std::vector<int>& ends) {
  const Choices& bias = s.encoding.choices;
  const json end = ends.empty() ? json() : ends.size() == 1 ? json(ends[0]) : json(ends);
  return {{"architectures", json::array({"T5ForConditionalGeneration"})},
          {"model_type", "t5"},
          {"is_encoder_decoder", true},
          {"vocab_size", s.vocabulary},
          {"d_model", s.d_model},
          {"d_kv", s.head_dim},
          {"d_ff", s.d_ff},
          {"num_layers", s.layers},
          {"num_decoder_layers", s.decoder_layers},
          {"num_heads", s.heads},
          {"relative_attention_num_buckets", bias.whole("buckets")},
          {"relative_attention_max_distance", bias.whole("max_distance")},
          {"feed_forward_proj", hf_activation(s)},
          {"layer_norm_epsilon", s.epsilon},
          {"dropout_rate", 0.0},
          {"tie_word_embeddings", s.scaled.value_or(s.tied)},  // determines whether the head's input is scaled
          {"decoder_start_token_id", s.start},
          {"pad_token_id", s.start},
          {"eos_token_id", end},
          {"torch_dtype", "float32"}};
}

std::string weights(const T5Spec& s, const Params& params) {
  std::vector<NamedTensor> all;
  for (const Params::Entry& e : params.entries()) {
    const std::string name = hf_name(e.name, s.gate.has_value());
    if (name.empty()) refuse("the parameter " + e.name, "a checkpoint of this form has no such parameter");
    const bool as_it_is = e.tensor.dims() == 1 || e.name == "embedding" || e.name.ends_with("encoding.table");
    all.push_back({name, as_it_is ? e.tensor : transpose(e.tensor.detach())});
  }
  return safetensors_bytes<float>({{"format", "pt"}}, all);
}

}  // namespace

void export_hf(const T5& model, const Params& params, const std::vector<int>& ends, const std::string& folder) {
  const T5Spec& s = model.spec();
  if (s.encoding->name != "t5" || !s.encoding.choices.on("unscaled") || s.encoding.choices.on("sqrt_d"))
    refuse("a T5 with encoding " + s.encoding.spelled(),
           "the form has only T5's biases without 1 / sqrt(D); train with t5:unscaled");
  if (s.temperature->name != "none")
    refuse("temperature " + s.temperature.spelled(), "the form has no factor on the logits; train without one");
  if (std::filesystem::exists(folder)) bad_input("{} exists already; choose another --to", folder);
  const std::string config = config_json(s, ends).dump(2) + "\n", numbers = weights(s, params);
  make_folder(folder);
  write_file(folder + "/model.safetensors", numbers);
  write_file(folder + "/config.json", config);  // written last, so that a folder without it is not a model
}

}  // namespace poslab::t5
