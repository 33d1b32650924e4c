#include "lab/hub/hf_config.h"

#include <algorithm>
#include <map>
#include <set>

#include "core/error.h"
#include "lab/files/json.h"
#include "lab/hub/hf_rope.h"
#include "lab/hub/keys.h"

namespace poslab {
namespace {

using json = Keys::json;

// Names, remarks, training, and what happens around a model.
const std::set<std::string> harmless = {"_attn_implementation_autoset",
                                        "_name_or_path",
                                        "architectures",
                                        "attention_dropout",
                                        "attn_implementation",
                                        "auto_map",
                                        "bos_token_id",
                                        "chunk_size_feed_forward",
                                        "dtype",
                                        "finetuning_task",
                                        "id2label",
                                        "initializer_range",
                                        "is_decoder",
                                        "label2id",
                                        "max_length",
                                        "name_or_path",
                                        "output_attentions",
                                        "output_hidden_states",
                                        "pad_token_id",
                                        "prefix",
                                        "pretraining_tp",
                                        "problem_type",
                                        "return_dict",
                                        "sep_token_id",
                                        "task_specific_params",
                                        "tokenizer_class",
                                        "torch_dtype",
                                        "torchscript",
                                        "transformers_version",
                                        "unsloth_version",
                                        "use_bfloat16",
                                        "use_cache"};

// Keys of relatives of these models, with the one value that changes nothing.
const std::vector<std::pair<std::string, json>> only = {{"hidden_act", "silu"},
                                                        {"mlp_bias", false},
                                                        {"is_encoder_decoder", false},
                                                        {"qk_norm", false},
                                                        {"use_qk_norm", false},
                                                        {"add_cross_attention", false},
                                                        {"cross_attention_hidden_size", nullptr},
                                                        {"tie_encoder_decoder", false},
                                                        {"pruned_heads", json::object()},
                                                        {"embedding_multiplier", 1.0},
                                                        {"residual_multiplier", 1.0},
                                                        {"logits_scaling", 1.0},
                                                        {"rope_interleaved", false},
                                                        {"use_mrope", false}};

// The defaults of what a file may leave out (transformers 5.23, the models' configuration classes).
struct Family {
  const char *type, *architecture;
  int longest, key_heads;  // 0: as many as heads
};
constexpr Family families[] = {{"llama", "LlamaForCausalLM", 2048, 0},
                               {"mistral", "MistralForCausalLM", 131072, 8},
                               {"qwen2", "Qwen2ForCausalLM", 32768, 32}};

const Family& family_of(Keys& config) {
  const std::string type = config.word("model_type", "");
  const json given = config.get("architectures");
  for (const Family& f : families)
    if (type == f.type) {
      if (given.is_array() && !given.empty() && given[0] != f.architecture)
        bad_input("{}: the architecture {} is not known; \"model_type\" {} is read as {}", config.where(),
                  in_short(given[0]), type, f.architecture);
      return f;
    }
  bad_input("{}: \"model_type\" \"{}\" is not known{}; poslab runs llama, mistral and qwen2", config.where(), type,
            given.is_array() && !given.empty() ? fmt::format(" (architecture {})", in_short(given[0])) : "");
}

// The width of a sliding window, 0 for none. A key that is absent has the default, and null says that there is none.
int window_of(Keys& config) {
  if (!config.has("sliding_window")) return 4096;
  if (config.get("sliding_window").is_null()) return 0;
  const int window = config.whole("sliding_window");
  if (!window) config.refuse("sliding_window", "1 or more, or null");
  return window;
}

// How many keys a query sees in each layer.
std::vector<int> windows_of(Keys& config, const std::string& type, int layers) {
  int window = type == "mistral" ? window_of(config) : 0, first = 0;  // from this layer on
  if (type == "qwen2") {
    window = config.on("use_sliding_window", false) ? window_of(config) : (config.get("sliding_window"), 0);
    first = config.whole("max_window_layers", 28);
  }
  std::vector<int> windows;
  for (int n = 0; n < layers; ++n) windows.push_back(n >= first ? window : 0);
  if (!config.get("layer_types").is_null()) {
    const std::vector<std::string> types = config.words("layer_types");
    if (int(types.size()) != layers) config.refuse("layer_types", fmt::format("one for each of {} layers", layers));
    for (int n = 0; n < layers; ++n) {
      const bool slides = types[size_t(n)] == "sliding_attention";
      if (!slides && types[size_t(n)] != "full_attention")
        config.refuse("layer_types", "a list of \"full_attention\" and \"sliding_attention\"");
      if (type == "qwen2")
        windows[size_t(n)] = slides ? window : 0;
      else if (slides != (window > 0))
        config.refuse("layer_types", "left out: the layers of this model are alike");
    }
  }
  if (std::all_of(windows.begin(), windows.end(), [](int w) { return w == 0; })) return {};
  return windows;
}

}  // namespace

void pass_over_harmless(Keys& config) {
  for (const std::string& key : harmless) config.get(key);
}

std::vector<int> ends_of(Keys& config) {
  const json ends = config.get("eos_token_id");
  std::vector<int> all;
  for (const json& token : ends.is_array() ? ends : ends.is_null() ? json::array() : json::array({ends})) {
    const auto n = whole_number(token, most_tokens);
    if (!n) config.refuse("eos_token_id", "a token's number, or a list of them");
    all.push_back(int(*n));
  }
  return all;
}

void refuse_left_over(Keys& config, const std::string& models) {
  if (const std::string key = config.left_over(); !key.empty())
    bad_input(
        "{}: the key \"{}\" ({}) is not known, and may change what the model computes; poslab runs {} as transformers "
        "defines them",
        config.where(), key, in_short(config.get(key)), models);
}

HfConfig hf_config(const std::string& text, const std::string& path) {
  Keys config = keys_of(text, path);
  const Family& family = family_of(config);
  HfConfig all;
  DecoderSpec& s = all.spec;
  s.vocabulary = config.size("vocab_size", most_tokens), s.d_model = config.size("hidden_size", most_channels);
  s.d_ff = config.size("intermediate_size", most_channels), s.layers = config.size("num_hidden_layers", most_layers);
  s.heads = config.size("num_attention_heads", most_heads);
  const bool as_many = config.has("num_key_value_heads") || !family.key_heads;
  s.key_heads = config.size("num_key_value_heads", most_heads, as_many ? s.heads : family.key_heads);
  s.head_dim = config.size("head_dim", most_channels / s.heads, 0);
  if (s.heads && s.head_dim * s.heads == s.d_model) s.head_dim = 0;
  s.epsilon = config.number("rms_norm_eps", 1e-6);
  s.tied = config.on("tie_word_embeddings", false);
  s.biases = family.type == std::string("qwen2");
  if (family.type == std::string("llama"))
    s.biases = s.output_bias = config.on("attention_bias", false);
  else if (config.on("attention_bias", s.biases) != s.biases)
    config.refuse("attention_bias", fmt::format("{} with model_type {}", s.biases, family.type));
  all.trained_length = config.whole("max_position_embeddings", family.longest);
  s.pool = std::max(1, all.trained_length);
  s.windows = windows_of(config, family.type, s.layers);
  const HfRope rope = hf_rope(config, all.trained_length, s.head_dim || !s.heads ? s.head_dim : s.d_model / s.heads);
  all.base = rope.base, s.encoding = choose_encoding(rope.encoding);
  all.ends = ends_of(config);
  for (const auto& [key, value] : only)
    if (const json given = config.get(key); !given.is_null() && given != value)
      config.refuse(key, fmt::format("{}: other models are not run", in_short(value)));
  pass_over_harmless(config);
  refuse_left_over(config, "LLaMA, Mistral and Qwen 2");
  return all;
}

void read_generation(const std::string& text, const std::string& path, HfConfig& all) {
  Keys keys = keys_of(text, path);
  if (const std::vector<int> ends = ends_of(keys); !ends.empty()) all.ends = ends;
  TokenChoice& c = all.choice;
  if (!keys.on("do_sample", true)) {
    c.temperature = 0;
    return;
  }
  c.temperature = keys.number("temperature", c.temperature);
  c.top_k = keys.whole("top_k", c.top_k), c.top_p = keys.number("top_p", c.top_p);
  naming(path, [&] { c.check(); });
}

std::string hf_name(const std::string& parameter) {
  static const std::map<std::string, std::string> whole = {
      {"embedding", "model.embed_tokens.weight"}, {"norm.gain", "model.norm.weight"}, {"head.w", "lm_head.weight"}};
  static const std::map<std::string, std::string> of_layer = {{"norm1.gain", "input_layernorm.weight"},
                                                              {"attention.query", "self_attn.q_proj.weight"},
                                                              {"attention.key", "self_attn.k_proj.weight"},
                                                              {"attention.value", "self_attn.v_proj.weight"},
                                                              {"attention.query_bias", "self_attn.q_proj.bias"},
                                                              {"attention.key_bias", "self_attn.k_proj.bias"},
                                                              {"attention.value_bias", "self_attn.v_proj.bias"},
                                                              {"attention.output", "self_attn.o_proj.weight"},
                                                              {"attention.output_bias", "self_attn.o_proj.bias"},
                                                              {"norm2.gain", "post_attention_layernorm.weight"},
                                                              {"ffn.w1", "mlp.gate_proj.weight"},
                                                              {"ffn.w3", "mlp.up_proj.weight"},
                                                              {"ffn.w2", "mlp.down_proj.weight"}};
  if (const auto found = whole.find(parameter); found != whole.end()) return found->second;
  const size_t dot = parameter.find('.');
  if (!parameter.starts_with("block") || dot == std::string::npos) return "";
  const auto found = of_layer.find(parameter.substr(dot + 1));
  return found == of_layer.end() ? "" : fmt::format("model.layers.{}.{}", parameter.substr(5, dot - 5), found->second);
}

}  // namespace poslab
