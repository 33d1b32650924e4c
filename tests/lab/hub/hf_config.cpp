// Families other than LLaMA: the settings in config.json reach the model, and unsupported ones are refused by key.
// tests/lab/hub/hf_model.cpp compares logits and texts with transformers.
#include <cmath>

#include "lab/hub/hf_config.h"
#include "tests/lab/helpers.h"
#include "tests/lab/hub/helpers.h"

using namespace poslab;
using namespace poslab::test;

namespace {

Json config_of(const std::string& name) {
  for (const Json& of : hf_cases())
    if (of["name"] == name) return of["config"];
  FAIL("no such case");
  return {};
}

HfConfig config(const std::string& name) { return hf_config(config_of(name).dump(), "config.json"); }

}  // namespace

TEST_CASE("hf: settings of a family's configuration reach the model") {
  CHECK(config("qwen3_windows").spec.windows == std::vector<int>{20, 0});
  CHECK(config("qwen3").spec.shape().head_dim() == 12);
  CHECK(config("qwen3").spec.output_bias);
  CHECK(config("olmo2").spec.norms == NormPlace::after);
  CHECK(config("olmo2").spec.epsilon == 1e-5);
  CHECK(config("phi3_windows").spec.windows == std::vector<int>{20, 20});
  CHECK(config("phi3").spec.windows.empty());
  CHECK(config("phi3_partial").spec.encoding.spelled() == "partial_rope:fraction=0.5,pairing=half");
  CHECK(config("phi3_partial_longrope").spec.encoding.spelled() ==
        "longrope:long=1/2/3.5,short=1/1.1/1.3,factor=2,fraction=0.75,length=32,pairing=half");
  CHECK(config("gemma3").spec.windows == std::vector<int>{16, 16, 0});
  CHECK(config("gemma3_pattern").spec.windows == std::vector<int>{24, 0, 24});
  Json published = config_of("gemma3");  // an old file without layer_types: every n-th layer sees all keys
  published.erase("layer_types"), published.erase("_sliding_window_pattern");
  CHECK(hf_config(published.dump(), "c").spec.windows == std::vector<int>{16, 16, 16});
  published["sliding_window_pattern"] = 3;
  CHECK(hf_config(published.dump(), "c").spec.windows == std::vector<int>{16, 16, 0});
  CHECK(config("gemma3_linear").spec.encoding.spelled() ==
        "rope:pairing=half|rope:pairing=half|pi:length=64,base=1000000,pairing=half");
  CHECK(config("gemma3_pattern").spec.encoding.spelled() == "rope:pairing=half|rope:pairing=half,base=1000000");
  CHECK(config("gemma3_capped").spec.logit_cap == 3);
  CHECK(config("gemma3").spec.embedding_scale == std::sqrt(32));
  CHECK(config("gemma3").spec.tied);
}

TEST_CASE("hf: another scheme applies to layers that see all keys and to partly rotated heads, if it can") {
  // layers with windows keep their own rotation, unless the scheme names each layer
  const HfRope gemma = config("gemma3").rope;
  CHECK(for_hf_model("rerope:window=8", gemma, 64) ==
        "rope:pairing=half|rope:pairing=half|rerope:window=8,pairing=half,base=1000000");
  CHECK(for_hf_model("rerope:window=8|rope", gemma, 64) ==
        "rerope:window=8,pairing=half|rope:pairing=half|rerope:window=8,pairing=half,base=1000000");
  CHECK(for_hf_model("none", gemma, 64) == "rope:pairing=half|rope:pairing=half|none");
  const HfRope phi = config("phi3_partial").rope;
  CHECK(for_hf_model("longrope", phi, 64) == "longrope:fraction=0.5,length=64,pairing=half");
  CHECK(for_hf_model("partial_rope:fraction=1", phi, 64) == "partial_rope:fraction=1,pairing=half");
  CHECK(for_hf_model("none", phi, 64) == "none");
  CHECK(refusal([&] { for_hf_model("rerope", phi, 64); }) ==
        "2: encoding rerope: it rotates all channels of a head, but this model rotates the first 0.5 of them; choose "
        "partial_rope, longrope, or a scheme that rotates none");
}

TEST_CASE("hf: keys of other families than LLaMA are read, or refused by name") {
  const auto refused = [](const char* name, const Json& changes) {
    Json config = config_of(name);
    for (const auto& [key, value] : changes.items()) config[Json::json_pointer(key)] = value;
    return refusal([&] { hf_config(config.dump(), "c"); });
  };
  // keys without effect that published configurations of a family have
  CHECK(refused("gemma3", {{"/cache_implementation", "hybrid"}, {"/attn_logit_softcapping", nullptr}}) == "");
  CHECK(refused("phi3", {{"/embd_pdrop", 0.1},
                         {"/resid_pdrop", 0.1},
                         {"/full_attn_mod", 1},
                         {"/lm_head_bias", false},
                         {"/interpolate_factor", 1},
                         {"/attention_bias", false}}) == "");
  CHECK(refused("qwen3", {{"/sliding_window", 4096}}) == "");  // ignored, because use_sliding_window is false
  CHECK(refused("olmo2", {{"/sliding_window", 8}}) != "");
  CHECK(holds(refused("olmo2", {{"/clip_qkv", 8.0}}), "2: c: the key \"clip_qkv\" (8.0) is not known"));
  CHECK(holds(refused("gemma3", {{"/attn_logit_softcapping", 50.0}}),
              "2: c: the key \"attn_logit_softcapping\" (50.0) is not known"));
  CHECK(refused("gemma3", {{"/final_logit_softcapping", 0.0}}) ==
        "2: c: \"final_logit_softcapping\" is 0.0; it must be above 0");
  CHECK(refused("gemma3", {{"/query_pre_attn_scalar", -1}}) ==
        "2: c: \"query_pre_attn_scalar\" is -1; it must be above 0");
  CHECK(refused("gemma3", {{"/hidden_activation", "gelu"}}) ==
        "2: c: \"hidden_activation\" is \"gelu\"; it must be \"gelu_pytorch_tanh\": poslab runs no other models");
  CHECK(holds(refused("gemma3", {{"/use_bidirectional_attention", true}}),
              "\"use_bidirectional_attention\" is true; it must be false"));
  CHECK(refused("gemma3", {{"/sliding_window", nullptr}}) ==
        "2: c: \"sliding_window\" is missing; it must be 1 or more: some layers have a window");
  CHECK(refused("gemma3", {{"/rope_parameters", {{"rope_type", "linear"}}}}) ==
        "2: c: rope_parameters: the key \"rope_type\" is not known; poslab reads full_attention and sliding_attention");
  CHECK(holds(refused("gemma3", {{"/rope_parameters/full_attention/rope_type", "linear"}}),
              "2: c: rope_parameters: full_attention: \"factor\" is missing; it must be a number"));
  CHECK(refused("phi3", {{"/rope_parameters", {{"rope_type", "linear"}, {"factor", 2}}}}) ==
        "2: c: rope_parameters: the type \"linear\" is not known in a model of Phi-3; use default or longrope");
  CHECK(refused("phi3", {{"/partial_rotary_factor", 0.3}}) ==
        "2: c: \"partial_rotary_factor\" is 0.3; it must be an even number of the 8 channels of a head");
  CHECK(holds(refused("phi3_partial_longrope", {{"/rope_parameters/long_factor", {1, 2}}}),
              "\"long_factor\" has 2 numbers, but a head has 3 rotated pairs of channels"));
  CHECK(holds(refused("phi3", {{"/attention_bias", true}}), "\"attention_bias\" is true; it must be false with"));
  CHECK(refused("llama", {{"/model_type", "gemma3"}, {"/architectures", {"Gemma3ForConditionalGeneration"}}}) ==
        "2: c: \"model_type\" \"gemma3\" is not known (architecture \"Gemma3ForConditionalGeneration\"); poslab runs "
        "llama, mistral, qwen2, qwen3, olmo2, phi3 and gemma3_text");
}
