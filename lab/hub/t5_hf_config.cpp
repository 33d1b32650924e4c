#include <algorithm>
#include <map>

#include "core/error.h"
#include "lab/files/json.h"
#include "lab/hub/hf_config.h"
#include "lab/hub/t5_hf.h"

namespace poslab::t5 {
namespace {

using json = Keys::json;

// Keys without effect here: for training, for use by transformers, and of its older versions.
constexpr const char* harmless_of_t5[] = {
    "dropout_rate", "classifier_dropout",     "initializer_factor", "gradient_checkpointing",
    "output_past",  "decoder_start_token_id", "is_decoder",         "vocab_file"};

// The first name of each activation is used for export.
constexpr std::pair<const char*, Activation> activations[] = {
    {"relu", Activation::relu}, {"gelu_new", Activation::gelu_tanh}, {"gelu_pytorch_tanh", Activation::gelu_tanh},
    {"gelu", Activation::gelu}, {"silu", Activation::silu},          {"swish", Activation::silu}};

// "gated-gelu" is T5 v1.1's approximation by a tanh (transformers 5.23, T5Config).
void read_activation(Keys& config, T5Spec& s) {
  const std::string given = config.word("feed_forward_proj", "relu"), gated = "gated-";
  const bool has_gate = given.starts_with(gated);
  const std::string name = given == "gated-gelu" ? "gelu_new" : has_gate ? given.substr(gated.size()) : given;
  const auto found =
      std::find_if(std::begin(activations), std::end(activations), [&](auto& a) { return a.first == name; });
  if (found == std::end(activations))
    config.refuse("feed_forward_proj", "relu, gelu or silu, or one of these after \"gated-\"");
  s.activation = found->second;
  if (has_gate) s.gate = found->second;
  if (const std::string also = config.word("dense_act_fn", name); also != name)
    config.refuse("dense_act_fn", fmt::format("\"{}\", as \"feed_forward_proj\" is \"{}\"", name, given));
  if (config.on("is_gated_act", has_gate) != has_gate)
    config.refuse("is_gated_act", fmt::format("{}, as \"feed_forward_proj\" is \"{}\"", has_gate, given));
}

void must_be_t5(Keys& config) {
  const std::string type = config.word("model_type", "");
  const json given = config.get("architectures");
  const std::string architecture = given.is_array() && !given.empty() ? in_short(given[0]) : "";
  if (type != "t5")
    bad_input("{}: \"model_type\" \"{}\" is not known{}; `poslab t5` runs t5, and `poslab lm` {}", config.where(), type,
              architecture.empty() ? "" : " (architecture " + architecture + ")", names_of_families);
  if (!architecture.empty() && architecture != "\"T5ForConditionalGeneration\"" &&
      architecture != "\"T5WithLMHeadModel\"")
    bad_input("{}: the architecture {} is not known; a t5 is read as T5ForConditionalGeneration", config.where(),
              architecture);
}

}  // namespace

std::string hf_activation(const T5Spec& s) {
  for (const auto& [name, gate] : activations)
    if (gate == s.gate.value_or(s.activation)) {
      if (!s.gate) return name;
      return gate == Activation::gelu_tanh ? "gated-gelu" : fmt::format("gated-{}", name);
    }
  return "";
}

HfConfig hf_config(const std::string& text, const std::string& path) {
  Keys config = keys_of(text, path);
  must_be_t5(config);
  HfConfig all;
  T5Spec& s = all.spec;
  s.vocabulary = config.size("vocab_size", most_tokens, s.vocabulary);
  s.d_model = config.size("d_model", most_channels, s.d_model), s.d_ff = config.size("d_ff", most_channels, s.d_ff);
  s.layers = config.size("num_layers", most_layers, s.layers);
  s.decoder_layers = config.size("num_decoder_layers", most_layers, s.layers);
  s.heads = config.size("num_heads", most_heads, s.heads);
  s.head_dim = config.size("d_kv", most_channels / s.heads, s.head_dim);
  s.epsilon = config.number("layer_norm_epsilon", s.epsilon);
  read_activation(config, s);
  for (const char* key : {"scale_decoder_outputs", "is_gated_act"})
    if (config.has(key) && config.get(key).is_null())
      config.refuse(key, "true or false, or left out: only transformers reads null as false");
  s.scaled = config.on("scale_decoder_outputs", config.on("tie_word_embeddings", true));
  s.encoding = prefix_errors(path, [&] {
    return choose_encoding(fmt::format("t5:unscaled,buckets={},max_distance={}",
                                       config.whole("relative_attention_num_buckets", 32),
                                       config.whole("relative_attention_max_distance", 128)));
  });
  s.start = config.whole("decoder_start_token_id", config.whole("pad_token_id", 0));
  all.trained_length = config.whole("n_positions", all.trained_length);
  s.pool = std::max(1, all.trained_length);
  all.writing.ends = ends_of(config);
  if (!config.on("is_encoder_decoder", true)) config.refuse("is_encoder_decoder", "true: poslab runs no other models");
  for (const char* key : harmless_of_t5) config.get(key);
  pass_over_harmless(config);
  refuse_left_over(config, "T5, T5 v1.1 and Flan-T5");
  return all;
}

void read_generation(const std::string& text, const std::string& path, HfConfig& all) {
  Keys keys = keys_of(text, path);
  T5Generation& w = all.writing;
  if (const std::vector<int> ends = ends_of(keys); !ends.empty()) w.ends = ends;
  all.spec.start = keys.whole("decoder_start_token_id", all.spec.start);
  w.beams = keys.whole("num_beams", w.beams), w.length_penalty = keys.number("length_penalty", w.length_penalty);
  const json stop = keys.get("early_stopping");
  if (stop.is_boolean())
    w.early_stopping = stop.get<bool>() ? EarlyStopping::on : EarlyStopping::off;
  else if (stop == "never")
    w.early_stopping = EarlyStopping::never;
  else if (!stop.is_null())
    keys.refuse("early_stopping", "true, false or \"never\"");
  prefix_errors(path, [&] { w.check(); });
  if (!Keys(keys).on("do_sample", false))  // from a copy, so that the key counts as unread
    for (const char* of_draws : {"do_sample", "temperature", "top_k", "top_p"}) keys.get(of_draws);
  all.passed_over = keys_passed_over(keys);
}

std::string hf_name(const std::string& parameter, bool gated) {
  const std::string bias = "layer.0.SelfAttention.relative_attention_bias.weight";
  const std::map<std::string, std::string> whole = {{"embedding", "shared.weight"},
                                                    {"head.w", "lm_head.weight"},
                                                    {"encoder.encoding.table", "encoder.block.0." + bias},
                                                    {"decoder.encoding.table", "decoder.block.0." + bias},
                                                    {"encoder.norm.gain", "encoder.final_layer_norm.weight"},
                                                    {"decoder.norm.gain", "decoder.final_layer_norm.weight"}};
  if (const auto found = whole.find(parameter); found != whole.end()) return found->second;
  const size_t block = parameter.find(".block"), dot = parameter.find('.', block + 1);
  if (block == std::string::npos || dot == std::string::npos) return "";
  const std::string side = parameter.substr(0, block), number = parameter.substr(block + 6, dot - block - 6);
  const std::string last = side == "decoder" ? "layer.2." : "layer.1.", dense = last + "DenseReluDense.";
  std::map<std::string, std::string> of_layer = {
      {"norm1.gain", "layer.0.layer_norm"}, {"norm_cross.gain", "layer.1.layer_norm"},
      {"norm2.gain", last + "layer_norm"},  {"ffn.w1", dense + (gated ? "wi_0" : "wi")},
      {"ffn.w3", dense + "wi_1"},           {"ffn.w2", dense + "wo"}};
  for (const char* weight : {"query", "key", "value", "output"}) {
    of_layer[std::string("attention.") + weight] = fmt::format("layer.0.SelfAttention.{}", weight[0]);
    of_layer[std::string("cross.") + weight] = fmt::format("layer.1.EncDecAttention.{}", weight[0]);
  }
  const auto found = of_layer.find(parameter.substr(dot + 1));
  return found == of_layer.end() ? "" : fmt::format("{}.block.{}.{}.weight", side, number, found->second);
}

}  // namespace poslab::t5
