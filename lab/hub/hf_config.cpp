#include "lab/hub/hf_config.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/error.h"
#include "lab/files/json.h"
#include "lab/hub/keys.h"

namespace poslab {

// The names of `families`.
const char* const names_of_families = "LLaMA, Mistral, Qwen 2, Qwen 3, OLMo 2, Phi-3 and Gemma 3";

namespace {

using json = Keys::json;

// Keys for names, comments, training, and settings around a model.
const char* const harmless[] = {
    "_attn_implementation_autoset", "_flash_attn_2_enabled", "_name_or_path", "architectures", "attention_dropout",
    "attn_implementation", "auto_map", "bos_token_id", "cache_implementation", "chunk_size_feed_forward", "dtype",
    "embd_pdrop", "finetuning_task", "id2label", "initializer_range", "is_decoder", "label2id", "max_length",
    "max_sequence_length", "model_max_length", "name_or_path", "output_attentions", "output_hidden_states",
    "pad_token_id", "prefix", "pretraining_tp", "problem_type", "resid_pdrop", "return_dict", "sep_token_id",
    "task_specific_params", "tokenizer_class", "tokenizer_model_max_length", "tokenizer_padding_side", "torch_dtype",
    "torchscript", "transformers_version", "unsloth_version", "use_bfloat16", "use_cache"};

// Keys of related models, with the one value that has no effect.
const std::vector<std::pair<std::string, json>> only = {
    {"mlp_bias", false}, {"lm_head_bias", false}, {"full_attn_mod", 1}, {"interpolate_factor", 1},
    {"use_bidirectional_attention", false}, {"is_encoder_decoder", false}, {"qk_norm", false}, {"use_qk_norm", false},
    {"add_cross_attention", false}, {"cross_attention_hidden_size", nullptr}, {"tie_encoder_decoder", false},
    {"pruned_heads", json::object()}, {"embedding_multiplier", 1.0}, {"residual_multiplier", 1.0},
    {"logits_scaling", 1.0}, {"rope_interleaved", false}, {"use_mrope", false}};

// Products with biases: none; queries, keys and values; or these and wo, depending on "attention_bias".
enum class BiasesOf { none, inputs, by_key };
// A family: the names in its checkpoints, the form of its models, and the defaults of keys that a file may leave out
// (transformers 5.23, the models' configuration classes).
struct Family {
  const char *type = "", *architecture = "";
  int longest = 0, key_heads = 0, head_dim = 0;  // key_heads 0: as many as heads; head_dim 0: hidden_size / heads
  double epsilon = 0;
  BiasesOf biases = BiasesOf::none;  // by "attention_bias"
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  NormPlace norms = NormPlace::before;
};
constexpr Family families[] = {
    {"llama", "LlamaForCausalLM", 2048, 0, 0, 1e-6, BiasesOf::by_key},
    {"mistral", "MistralForCausalLM", 131072, 8, 0, 1e-6, BiasesOf::none},
    {"qwen2", "Qwen2ForCausalLM", 32768, 32, 0, 1e-6, BiasesOf::inputs},
    {"qwen3", "Qwen3ForCausalLM", 32768, 32, 128, 1e-6, BiasesOf::by_key, QueryKeyNorm::each_head},
    {"olmo2", "Olmo2ForCausalLM", 2048, 0, 0, 1e-5, BiasesOf::by_key, QueryKeyNorm::all_heads, NormPlace::after},
    {"phi3", "Phi3ForCausalLM", 4096, 0, 0, 1e-5, BiasesOf::none},
    {"gemma3_text", "Gemma3ForCausalLM", 131072, 4, 256, 1e-6, BiasesOf::by_key, QueryKeyNorm::each_head,
     NormPlace::around},
};

const Family& family_of(Keys& config) {
  const std::string type = config.word("model_type", "");
  if (type == "t5")
    bad_input("{}: this is a T5, not a language model; use `poslab t5 eval --hf`, t5 generate or align",
              config.where());
  const json given = config.get("architectures");
  std::string types;
  for (const Family& f : families) {
    if (type == f.type) {
      if (given.is_array() && !given.empty() && given[0] != f.architecture)
        bad_input("{}: the architecture {} is not known; \"model_type\" {} is read as {}", config.where(),
                  in_short(given[0]), type, f.architecture);
      return f;
    }
    types += fmt::format("{}{}", types.empty() ? "" : &f == std::end(families) - 1 ? " and " : ", ", f.type);
  }
  bad_input("{}: \"model_type\" \"{}\" is not known{}; poslab runs {}", config.where(), type,
            given.is_array() && !given.empty() ? fmt::format(" (architecture {})", in_short(given[0])) : "", types);
}

// The width of a sliding window, 0 for none. If the key is absent, the default holds; null means no window.
int window_of(Keys& config) {
  if (!config.has("sliding_window")) return 4096;
  if (config.get("sliding_window").is_null()) return 0;
  const int window = config.whole("sliding_window");
  if (!window) config.refuse("sliding_window", "1 or more, or null");
  return window;
}

// The number of keys that a query sees in each layer.
std::vector<int> windows_of(Keys& config, const std::string& type, int layers) {
  const bool qwen = type.starts_with("qwen"), gemma = type == "gemma3_text";
  int window = type == "mistral" || gemma ? window_of(config) : 0;
  int first = 0, every = 0;  // windows begin at layer `first`; every `every`-th layer sees all keys
  if (type == "phi3" && config.has("sliding_window")) window = window_of(config);
  if (qwen) {
    window = config.on("use_sliding_window", false) ? window_of(config) : (config.get("sliding_window"), 0);
    first = config.whole("max_window_layers", 28);
  }
  if (gemma) every = config.size("sliding_window_pattern", most_layers, 6);
  config.get("_sliding_window_pattern");  // transformers writes it together with layer_types, but does not read it
  if (gemma && !window) config.refuse("sliding_window", "1 or more: some layers have a window");
  std::vector<int> windows;
  for (int n = 0; n < layers; ++n) windows.push_back(n >= first && !(every && (n + 1) % every == 0) ? window : 0);
  if (!config.get("layer_types").is_null()) {
    const std::vector<std::string> types = config.words("layer_types");
    if (int(types.size()) != layers) config.refuse("layer_types", fmt::format("one for each of {} layers", layers));
    for (int n = 0; n < layers; ++n) {
      const bool slides = types[size_t(n)] == "sliding_attention";
      if (!slides && types[size_t(n)] != "full_attention")
        config.refuse("layer_types", "a list of \"full_attention\" and \"sliding_attention\"");
      if (qwen || gemma)
        windows[size_t(n)] = slides ? window : 0;
      else if (slides != (window > 0))
        config.refuse("layer_types", "left out: the layers of this model are all of one kind");
    }
  }
  if (std::all_of(windows.begin(), windows.end(), [](int w) { return w == 0; })) return {};
  return windows;
}

}  // namespace

void pass_over_harmless(Keys& config) {
  for (const char* key : harmless) config.get(key);
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

namespace {

// bos_token_id. Only an empty prompt needs it, so an invalid token counts as absent.
void read_begin(Keys& config, std::vector<int>& begin) {
  if (const auto n = whole_number(config.get("bos_token_id"), most_tokens)) begin = {int(*n)};
}

}  // namespace

std::string keys_passed_over(Keys& generation) {
  static const std::set<std::string> none_at_1 = {"repetition_penalty", "encoder_repetition_penalty", "length_penalty",
                                                  "temperature", "top_p", "typical_p", "guidance_scale", "num_beams",
                                                  "num_beam_groups", "num_return_sequences"},
                                     // keys about speed and output format; --count overrides a length
      of_none = {"transformers_version", "use_cache", "cache_implementation", "pad_token_id", "bos_token_id",
                 "decoder_start_token_id", "max_length", "max_new_tokens", "return_dict_in_generate"};
  std::vector<std::string> keys = generation.all_left_over();
  std::erase_if(keys, [&](const std::string& key) {
    const json value = generation.get(key);
    const bool off = value == false || value == "" || (value == 0 && !key.ends_with("_token_id")) ||
                     (value.is_structured() && value.empty());
    return off || key.starts_with("_") || key.starts_with("output_") || of_none.count(key) ||
           (value == 1 && none_at_1.count(key));
  });
  if (keys.empty()) return "";
  return fmt::format("{}: {} would change the text, but poslab ignores {}", generation.where(),
                     fmt::join(keys, ", "), keys.size() == 1 ? "it" : "them");
}

void refuse_left_over(Keys& config, const std::string& models) {
  if (const std::string key = config.left_over(); !key.empty())
    bad_input(
        "{}: the key \"{}\" ({}) is not known, and may change what the model computes; poslab runs {} as transformers "
        "defines them",
        config.where(), key, in_short(config.get(key)), models);
}

namespace {

// Throws BadInput unless the activation under this key is the only one of the family.
void check_activation(Keys& config, const char* key, const char* activation) {
  if (const json given = config.get(key); !given.is_null() && given != activation)
    config.refuse(key, fmt::format("\"{}\": poslab runs no other models", activation));
}

double above_0(Keys& config, const char* key, double standard) {
  const double x = config.number(key, standard);
  if (!(x > 0)) config.refuse(key, "above 0");
  return x;
}

// Gemma 3 scales embeddings, stores gains less 1, and scales logits by a factor that does not depend on the head size.
void read_gemma(Keys& config, HfConfig& all) {
  DecoderSpec& s = all.spec;
  check_activation(config, "hidden_activation", "gelu_pytorch_tanh");
  s.gate = Activation::gelu_tanh, s.embedding_scale = std::sqrt(double(s.d_model)), all.form.gains_less_1 = true;
  all.form.query_factor = std::sqrt(s.shape().head_dim() / above_0(config, "query_pre_attn_scalar", 256));
  if (!config.get("final_logit_softcapping").is_null()) s.logit_cap = above_0(config, "final_logit_softcapping", 0);
}

}  // namespace

HfConfig hf_config(const std::string& text, const std::string& path) {
  Keys config = keys_of(text, path);
  const Family& family = family_of(config);
  const bool gemma = family.type == std::string("gemma3_text"), phi = family.type == std::string("phi3");
  HfConfig all;
  DecoderSpec& s = all.spec;
  s.vocabulary = config.size("vocab_size", most_tokens), s.d_model = config.size("hidden_size", most_channels);
  s.d_ff = config.size("intermediate_size", most_channels), s.layers = config.size("num_hidden_layers", most_layers);
  s.heads = config.size("num_attention_heads", most_heads);
  const bool as_many = config.has("num_key_value_heads") || !family.key_heads;
  s.key_heads = config.size("num_key_value_heads", most_heads, as_many ? s.heads : family.key_heads);
  s.head_dim = config.size("head_dim", most_channels / s.heads, family.head_dim);
  if (s.heads && s.head_dim * s.heads == s.d_model) s.head_dim = 0;
  s.epsilon = config.number("rms_norm_eps", family.epsilon);
  s.tied = config.on("tie_word_embeddings", gemma);
  s.query_key_norm = family.query_key_norm, s.norms = family.norms;
  s.biases = family.biases == BiasesOf::inputs;
  if (family.biases == BiasesOf::by_key)
    s.biases = s.output_bias = config.on("attention_bias", false);
  else if (config.on("attention_bias", s.biases) != s.biases)
    config.refuse("attention_bias", fmt::format("{} with model_type {}", s.biases, family.type));
  all.trained_length = config.whole("max_position_embeddings", family.longest);
  s.pool = std::max(1, all.trained_length);
  s.windows = windows_of(config, family.type, s.layers);
  HfRopeForm rope{.longest = all.trained_length, .head_dim = s.shape().head_dim(), .phi = phi};
  for (int n = 0; gemma && n < s.layers; ++n) rope.slides.push_back(!s.windows.empty() && s.windows[size_t(n)] > 0);
  all.rope = hf_rope(config, rope);
  all.form.fused = phi;
  gemma ? read_gemma(config, all) : check_activation(config, "hidden_act", "silu");
  s.encoding = choose_encoding(all.rope.encoding(), trained_on(all.trained_length));
  read_begin(config, all.begin), all.ends = ends_of(config);
  for (const auto& [key, value] : only)
    if (const json given = config.get(key); !given.is_null() && given != value)
      config.refuse(key, fmt::format("{}: poslab runs no other models", in_short(value)));
  pass_over_harmless(config);
  refuse_left_over(config, names_of_families);
  return all;
}

void read_generation(const std::string& text, const std::string& path, HfConfig& all) {
  Keys keys = keys_of(text, path);
  read_begin(keys, all.begin);
  if (const std::vector<int> ends = ends_of(keys); !ends.empty()) all.ends = ends;
  TokenChoice& c = all.choice;
  if (keys.on("do_sample", true)) {
    c.temperature = keys.number("temperature", c.temperature);
    c.top_k = keys.whole("top_k", c.top_k), c.top_p = keys.number("top_p", c.top_p);
    prefix_errors(path, [&] { c.check(); });
  } else {
    c.temperature = 0;
    for (const char* of_draws : {"temperature", "top_k", "top_p"}) keys.get(of_draws);
  }
  all.passed_over = keys_passed_over(keys);
}

}  // namespace poslab
