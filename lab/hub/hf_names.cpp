#include "lab/hub/hf_names.h"

#include <fmt/core.h>

#include <map>

namespace poslab {
namespace {

using Names = std::map<std::string, std::string>;

// Names within a layer, by the parameter's name in its block. LLaMA calls the norm before the feed-forward network
// post_attention_layernorm, a name that families with a norm after attention give to that norm.
std::string in_layer(const std::string& parameter, NormPlace norms) {
  static const Names all = {{"norm1.gain", "input_layernorm.weight"},
                            {"attention.query", "self_attn.q_proj.weight"},
                            {"attention.key", "self_attn.k_proj.weight"},
                            {"attention.value", "self_attn.v_proj.weight"},
                            {"attention.query_bias", "self_attn.q_proj.bias"},
                            {"attention.key_bias", "self_attn.k_proj.bias"},
                            {"attention.value_bias", "self_attn.v_proj.bias"},
                            {"attention.query_norm.gain", "self_attn.q_norm.weight"},
                            {"attention.key_norm.gain", "self_attn.k_norm.weight"},
                            {"attention.output", "self_attn.o_proj.weight"},
                            {"attention.output_bias", "self_attn.o_proj.bias"},
                            {"attention.norm.gain", "post_attention_layernorm.weight"},
                            {"ffn.w1", "mlp.gate_proj.weight"},
                            {"ffn.w3", "mlp.up_proj.weight"},
                            {"ffn.w2", "mlp.down_proj.weight"},
                            {"ffn.norm.gain", "post_feedforward_layernorm.weight"}};
  if (parameter == "norm2.gain")
    return norms == NormPlace::before ? "post_attention_layernorm.weight" : "pre_feedforward_layernorm.weight";
  const auto found = all.find(parameter);
  return found == all.end() ? "" : found->second;
}

// Some tensors contain several matrices, one below the other.
HfPlace fused(const std::string& parameter, const DecoderSpec& s) {
  const int queries = s.heads * s.shape().head_dim(), keys = s.key_heads * s.shape().head_dim();
  const std::string inputs = "self_attn.qkv_proj.weight", gates = "mlp.gate_up_proj.weight";
  if (parameter == "attention.query") return {inputs, 0, queries + 2 * keys};
  if (parameter == "attention.key") return {inputs, queries, queries + 2 * keys};
  if (parameter == "attention.value") return {inputs, queries + keys, queries + 2 * keys};
  if (parameter == "ffn.w1") return {gates, 0, 2 * s.d_ff};
  if (parameter == "ffn.w3") return {gates, s.d_ff, 2 * s.d_ff};
  return in_layer(parameter, s.norms);
}

HfPlace named(const std::string& parameter, const DecoderSpec& s, bool is_fused) {
  static const Names whole = {
      {"embedding", "model.embed_tokens.weight"}, {"norm.gain", "model.norm.weight"}, {"head.w", "lm_head.weight"}};
  if (const auto found = whole.find(parameter); found != whole.end()) return found->second;
  const size_t dot = parameter.find('.');
  if (!parameter.starts_with("block") || dot == std::string::npos) return std::string();
  const std::string inner = parameter.substr(dot + 1);
  HfPlace place = is_fused ? fused(inner, s) : in_layer(inner, s.norms);
  if (!place.tensor.empty())
    place.tensor = fmt::format("model.layers.{}.{}", parameter.substr(5, dot - 5), place.tensor);
  return place;
}

}  // namespace

HfPlace hf_place(const std::string& parameter, const DecoderSpec& s, const HfForm& form) {
  HfPlace place = named(parameter, s, form.fused);
  if (form.gains_less_1 && parameter.ends_with("gain")) place.plus = 1;
  if (parameter.ends_with("query_norm.gain")) place.times = form.query_factor;
  return place;
}

}  // namespace poslab
