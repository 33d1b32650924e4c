// Checkpoints in Hugging Face format: logits and generated tokens equal those of transformers, and missing, unknown or
// damaged parts are refused by name. tests/huggingface/ has the programs that make the golden files.
#include <algorithm>
#include <cmath>
#include <fstream>

#include "autograd/tape.h"
#include "core/memory.h"
#include "encodings/checks/setup.h"
#include "lab/files/safetensors.h"
#include "lab/hub/hf_model.h"
#include "lab/hub/hf_rope.h"
#include "lab/hub/hf_weights.h"
#include "lab/hub/stored_tensors.h"
#include "nn/generate.h"
#include "tests/lab/helpers.h"
#include "tests/lab/hub/helpers.h"

using namespace poslab;
using namespace poslab::test;
namespace fs = std::filesystem;

namespace {

// The weights of a case with another config.json.
HfModel opened(const TemporaryFolder& folder, const Json& of, const Json& config) {
  for (const auto& file : fs::directory_iterator(golden_folder + of["model"].get<std::string>()))
    if (file.path().filename() != "config.json" && !fs::exists(folder / file.path().filename()))
      fs::create_symlink(file.path(), folder / file.path().filename());
  write_file(folder / "config.json", config.dump());
  return open_hf_model(folder.path);
}

Decoder net_of(const HfModel& m, const Json& of) {
  if (!of.contains("encoding")) return m.net;
  return m.net.with_encoding(choose_encoding(for_hf_model(of["encoding"], m.config.rope, m.config.trained_length)));
}

// The largest error of the case's logits, relative to the largest logit.
double logit_error(const Decoder& net, const Json& of) {
  const std::vector<int> tokens = of["tokens"];
  const int T = int(tokens.size()), V = net.spec().vocabulary;
  const PositionSample sequential(choose_sampler("sequential"), Resample::per_forward, {}, 1, T);
  const Tensor logits = net(Ids({1, T}, tokens), T, {sequential, {}});
  double worst = 0, largest = 0;
  for (size_t n = 0; n < of["slots"].size(); ++n) {
    REQUIRE(int(of["logits"][n].size()) == V);
    for (int i = 0; i < V; ++i) {
      const double expected = of["logits"][n][size_t(i)];
      worst = std::max(worst, std::abs(logits.data()[int64_t(of["slots"][n]) * V + i] - expected));
      largest = std::max(largest, std::abs(expected));
    }
  }
  return worst / largest;
}

std::vector<int> written(const Decoder& net, const Json& of) {
  std::vector<int> text;
  const std::vector<int> tokens = of["tokens"];
  const std::vector<int> prompt(tokens.begin(), tokens.begin() + int(of["prompt"]));
  generate(net, prompt, {.count = int(of["written"].size()), .choice = {.temperature = 0}},
           [&](int token) { return text.push_back(token), true; });
  return text;
}

// config.json as transformers wrote it before version 5.
Json older(Json config) {
  Json rope = config.at("rope_parameters");
  config.erase("rope_parameters");
  if (rope.contains("sliding_attention")) {
    config["rope_local_base_freq"] = rope["sliding_attention"]["rope_theta"];
    rope = Json(rope["full_attention"]);
  }
  config["rope_theta"] = rope["rope_theta"];
  rope.erase("rope_theta");
  config["rope_scaling"] = rope["rope_type"] == "default" ? Json() : rope;
  if (config["model_type"] != "gemma3_text" && !config["rope_scaling"].is_null()) {
    config["rope_scaling"]["type"] = rope["rope_type"];
    config["rope_scaling"].erase("rope_type");
  }
  config["torch_dtype"] = "float32";
  return config;
}

}  // namespace

TEST_CASE("hf: logits and 200 greedy tokens equal those of transformers, for each rope_scaling type and model") {
  CHECK(hf_cases().size() == 41);
  for (const Json& of : hf_cases()) {
    INFO(of["name"]);
    const TemporaryFolder folder;
    const HfModel model = opened(folder, of, of["config"]);
    const Decoder net = net_of(model, of);
    const double error = logit_error(net, of);
    MESSAGE(of["name"].get<std::string>() << ": worst error of a logit " << error);
    CHECK(error < 1e-4);
    CHECK(written(net, of) == of["written"].get<std::vector<int>>());
    if (of.contains("encoding")) continue;
    CHECK(opened(folder, of, older(of["config"])).config.spec.encoding.spelled() ==
          model.config.spec.encoding.spelled());
  }
}

TEST_CASE("hf: weights stay in their files, and their memory counts no copy") {
  const Json& of = hf_cases()[0];
  const TemporaryFolder folder;
  const int64_t before = memory().bytes_requested;
  const HfModel model = opened(folder, of, of["config"]);
  CHECK(memory().bytes_requested - before < 4096);  // only the gains of norms: 5 x 32 numbers
  CHECK(logit_error(model.net, of) < 1e-4);
}

TEST_CASE("hf: settings of the configuration reach the model") {
  const auto config = [](const char* name) {
    for (const Json& of : hf_cases())
      if (of["name"] == name) return hf_config(of["config"].dump(), "config.json");
    FAIL("no such case");
    return HfConfig();
  };
  CHECK(config("qwen2_windows").spec.windows == std::vector<int>{0, 20});
  CHECK(config("mistral").spec.windows == std::vector<int>{24, 24});
  CHECK(config("mistral_whole").spec.windows.empty());
  CHECK(config("mistral").spec.shape().head_dim() == 12);
  CHECK(config("llama_biases").spec.output_bias);
  CHECK_FALSE(config("qwen2").spec.output_bias);
  CHECK(config("llama").trained_length == 64);
  CHECK(config("linear").spec.encoding.spelled() == "pi:factor=4,length=64,pairing=half");
  HfRope rope;
  rope.full.base = 5e5;
  CHECK(for_hf_model("rerope:window=8", rope, 64) == "rerope:window=8,pairing=half,base=500000");
  CHECK(for_hf_model("dynamic_ntk:length=9|none*2+rope:base=7*2", rope, 64) ==
        "dynamic_ntk:length=9,base=500000,pairing=half|none*2+rope:pairing=half,base=7*2");
  for (const char* scheme : {"window", "lambda", "sinks", "self_extend", "dual_chunk", "drope", "rnope"}) {
    const std::string whole = for_hf_model(scheme, rope, 64);
    for (const char* said : {"base=500000", "pairing=half"}) CHECK(holds(whole, said));
    CHECK(!holds(whole, "L"));
    CHECK(choose_encoding(whole)->pages.pictures.frequencies({1, 1, 8}, choose_encoding(whole).choices, 64, 0)[1] ==
          doctest::Approx(std::pow(5e5, -0.25)));
  }
  // yarn and similar schemes get the trained length of the rotation: original_max_position_embeddings, if it is given.
  CHECK(for_hf_model("yarn:factor=4,length=1L", rope, 64) == "yarn:factor=4,length=64,base=500000,pairing=half");
  rope.full.original = 16;
  CHECK(for_hf_model("yarn:factor=4,length=1L", rope, 64) == "yarn:factor=4,length=16,base=500000,pairing=half");
  CHECK(for_hf_model("pi:dynamic|yarn:length=9", rope, 64) ==
        "pi:dynamic,length=16,base=500000,pairing=half|yarn:length=9,base=500000,pairing=half");
  CHECK(config("yarn").rope.full.original == 32);
  CHECK(config("linear").rope.full.original == 0);
  CHECK(refusal([] { for_hf_model("fope", {}, 64); }) ==
        "2: encoding fope: it has no option pairing, but the rotation of this model has pairing = half; choose "
        "another");
}

TEST_CASE("hf: a key that changes the mathematics is refused by name, and any other unknown key is ignored") {
  const Json plain = hf_cases()[0]["config"];
  const auto refused = [&](const Json& changes) {
    Json config = plain;
    for (const auto& [key, value] : changes.items())
      value == "absent" ? void(config.erase(key)) : void(config[key] = value);
    return refusal([&] { hf_config(config.dump(), "c"); });
  };
  const auto rope = [&](const Json& changes) {
    Json all = plain["rope_parameters"];
    all.update(changes);
    return refused({{"rope_parameters", all}});
  };
  CHECK(refused({}) == "");
  CHECK(refused({{"transformers_version", "9"}, {"pad_token_id", 3}, {"id2label", {{"0", "x"}}}}) == "");
  CHECK(refused({{"attn_logit_softcapping", nullptr}, {"mlp_bias", false}, {"embedding_multiplier", 1}}) == "");
  CHECK(refused({{"attn_logit_softcapping", 50.0}}) ==
        "2: c: the key \"attn_logit_softcapping\" (50.0) is not known, and may change what the model computes; poslab "
        "runs LLaMA, Mistral, Qwen 2, Qwen 3, OLMo 2, Phi-3 and Gemma 3 as transformers defines them");
  CHECK(refused({{"hidden_act", "gelu"}}) ==
        "2: c: \"hidden_act\" is \"gelu\"; it must be \"silu\": poslab runs no other models");
  CHECK(holds(refused({{"mlp_bias", true}}), "\"mlp_bias\" is true; it must be false"));
  CHECK(holds(refused({{"quantization_config", {{"bits", 4}}}}), "the key \"quantization_config\""));
  CHECK(holds(refused({{"attention_multiplier", 0.5}}), "the key \"attention_multiplier\" (0.5)"));
  CHECK(holds(refused({{"partial_rotary_factor", 0.5}}), "\"partial_rotary_factor\" is 0.5; it must be 1"));
  CHECK(holds(refused({{"model_type", "gemma2"}}), "\"model_type\" \"gemma2\" is not known"));
  CHECK(holds(refused({{"architectures", {"LlamaForTokenClassification"}}}),
              "\"LlamaForTokenClassification\" is not known"));
  CHECK(holds(refused({{"hidden_size", "absent"}}), "\"hidden_size\" is missing; it must be a whole number"));
  CHECK(holds(refused({{"hidden_size", "wide"}}), "\"hidden_size\" is \"wide\"; it must be a whole number"));
  CHECK(holds(refused({{"layer_types", {"chunked_attention", "full_attention"}}}), "it must be a list of \"full_att"));
  CHECK(holds(refused({{"sliding_window", 8}}), "the key \"sliding_window\" (8)"));
  CHECK(rope(Json::object()) == "");
  CHECK(holds(rope({{"rope_type", "mrope"}}), "c: rope_parameters: the type \"mrope\" is not known; poslab reads "));
  CHECK(holds(rope({{"rope_type", "linear"}}), "c: rope_parameters: \"factor\" is missing; it must be a number"));
  CHECK(holds(rope({{"rope_type", "linear"}, {"factor", 0.5}}), "c: rope_parameters: pi: factor"));
  CHECK(rope({{"partial_rotary_factor", 1}}) == "");
  CHECK(rope({{"partial_rotary_factor", 0.5}}) ==
        "2: c: rope_parameters: \"partial_rotary_factor\" is 0.5; it must be 1: heads that rotate in part are read "
        "only with model_type phi3");
  CHECK(rope({{"rope_theta", 1e20}}) == "");
  CHECK(holds(rope({{"rope_theta", 1e31}}), "c: rope_parameters: \"rope_theta\" is 1e+31; it must be 2 .. 1e30"));
  for (const std::vector<double>& wrong : {std::vector<double>{1, 2, 3}, {1, 2, 3, 4, 5}})   // there are 4 pairs
    for (const char* list : {"long_factor", "short_factor"}) {
      Json all = {{"rope_type", "longrope"}, {"long_factor", {1, 2, 3, 4}}, {"short_factor", {1, 1, 1, 1}}};
      CHECK(rope(all) == "");
      all[list] = wrong;
      CHECK(rope(all) ==
            fmt::format("2: c: rope_parameters: \"{}\" has {} numbers, but a head has 4 rotated pairs of channels; "
                        "it needs one for each", list, wrong.size()));
    }
  const auto yarn = [](const Json& truncate) {
    const Json all = {{"rope_type", "yarn"}, {"factor", 4}, {"original_max_position_embeddings", 16},
                      {"truncate", truncate}};
    Keys keys = keys_of(Json{{"rope_parameters", all}}.dump(), "c");
    return hf_rope(keys, {.longest = 64, .head_dim = 8}).encoding();
  };
  for (const Json& off : {Json(false), Json(nullptr)})          // transformers reads null as false here
    CHECK(holds(yarn(off), ",truncate=off"));
  CHECK_FALSE(holds(yarn(true), "truncate"));
  CHECK(rope({{"rope_type", "yarn"}, {"factor", 4}, {"attention_factor", 0}}) ==
        "2: c: rope_parameters: \"attention_factor\" is 0; it must be at most 1000, and not 0, with which all keys "
        "weigh the same");
  CHECK(holds(rope({{"rope_type", "linear"}, {"factor", 2}, {"beta_fast", 3}}),
              "the key \"beta_fast\" is not known with the type \"linear\""));
  CHECK(holds(rope({{"full_attention", {{"rope_type", "default"}}}}), "the key \"full_attention\" is not known"));
  CHECK(refusal([&] { hf_config("[1]", "c"); }) == "2: c is not a JSON object");
  CHECK(refusal([&] { hf_config("{", "c"); }) ==
        "2: c is not valid JSON: it has an error at byte 2; save or fetch it again");
}

TEST_CASE("hf: generation_config.json sets how a model generates, and its faults are named") {
  HfConfig c;
  c.ends = {2};
  const auto read = [&](const Json& all) { read_generation(all.dump(), "g", c); };
  read({{"_from_model_config", true}, {"transformers_version", "5"}, {"new_key", 3}});
  CHECK(c.ends == std::vector{2});
  CHECK(c.choice.temperature == 0.8);
  CHECK(c.passed_over == "g: new_key would change the text, but poslab ignores it");
  read({{"repetition_penalty", 1.0}, {"no_repeat_ngram_size", 0}, {"suppress_tokens", Json::array()},
        {"min_p", nullptr}, {"do_sample", false}, {"top_k", 3}, {"max_length", 20}, {"pad_token_id", 0}});
  CHECK(c.passed_over == "");
  read({{"repetition_penalty", 1.2}, {"no_repeat_ngram_size", 1}, {"forced_bos_token_id", 0}});
  CHECK(c.passed_over == "g: repetition_penalty, no_repeat_ngram_size, forced_bos_token_id would change the text, but "
                         "poslab ignores them");
  read({{"eos_token_id", {7, 9}}, {"do_sample", true}, {"temperature", 0.6}, {"top_k", 20}, {"top_p", 0.9}});
  CHECK(c.ends == std::vector{7, 9});
  CHECK(c.choice.temperature == 0.6);
  CHECK(c.choice.top_k == 20);
  CHECK(c.choice.top_p == 0.9);
  read({{"eos_token_id", 5}, {"do_sample", false}, {"top_k", nullptr}});
  CHECK(c.ends == std::vector{5});
  CHECK(c.choice.temperature == 0);
  CHECK(c.choice.top_k == 20);
  const auto refused = [&](const Json& all) { return refusal([&] { read(all); }); };
  CHECK(refused({{"temperature", "hot"}}) == "2: g: \"temperature\" is \"hot\"; it must be a number");
  CHECK(refused({{"top_p", 3}}) == "2: g: top_p = 3; it must be above 0 and at most 1 (all tokens)");
  CHECK(refused({{"eos_token_id", "</s>"}}) ==
        "2: g: \"eos_token_id\" is \"</s>\"; it must be a token's number, or a list of them");
  CHECK(refused(3) == "2: g is not a JSON object");
}

namespace {

// A one-layer model of width 4, whose files a test can damage.
struct Spoiled {
  TemporaryFolder folder;
  std::vector<NamedTensor> tensors;
  Json config = {{"model_type", "llama"},   {"vocab_size", 5},        {"hidden_size", 4},
                 {"intermediate_size", 6},  {"num_hidden_layers", 1}, {"num_attention_heads", 2},
                 {"num_key_value_heads", 1}};
  Spoiled() {
    const auto add = [&](const std::string& name, Shape shape) { tensors.push_back({name, Tensor::full(shape, 1)}); };
    const std::string l = "model.layers.0.";
    add("model.embed_tokens.weight", {5, 4}), add("model.norm.weight", {4}), add("lm_head.weight", {5, 4});
    add(l + "input_layernorm.weight", {4}), add(l + "post_attention_layernorm.weight", {4});
    add(l + "self_attn.q_proj.weight", {4, 4}), add(l + "self_attn.k_proj.weight", {2, 4});
    add(l + "self_attn.v_proj.weight", {2, 4}), add(l + "self_attn.o_proj.weight", {4, 4});
    add(l + "mlp.gate_proj.weight", {6, 4}), add(l + "mlp.up_proj.weight", {6, 4}),
        add(l + "mlp.down_proj.weight", {4, 6});
  }
  std::string refused() {
    write_file(folder / "config.json", config.dump());
    if (!tensors.empty()) write_file(folder / "model.safetensors", safetensors_bytes<float>({{"format", "pt"}},
                                                                                               tensors));
    return opened();
  }
  std::string opened() {
    std::string text = refusal([&] { open_hf_model(folder.path); });
    for (size_t at; (at = text.find(folder.path)) != std::string::npos;) text.replace(at, folder.path.size(), "F");
    return text;
  }
};

}  // namespace

TEST_CASE("hf: weights that are NaN or infinite are a damaged file, and the tensor is named") {
  for (const double wrong : {double(NAN), double(INFINITY), -double(INFINITY)}) {
    Spoiled s;
    Tensor& down = s.tensors.back().values;                                               // (4, 6)
    down = Tensor::full({4, 6}, 1), down.data()[21] = real(wrong), down.data()[23] = real(wrong);
    CHECK(s.refused() == "1: F/model.safetensors is damaged: the tensor model.layers.0.mlp.down_proj.weight holds NaN "
                         "or infinity, first at (3, 3); fetch it again");
    down = Tensor::full({4, 6}, 3e38);
    CHECK(s.refused() == "");
    s.tensors[1].values.data()[2] = real(wrong);
    CHECK(holds(s.refused(), "1: F/model.safetensors is damaged: the tensor model.norm.weight holds NaN or infinity, "
                             "first at (2)"));
  }
  // 16-bit numbers, after the first block: 0x7f80 and 0x7c00 are infinity, the numbers before them the largest
  for (const auto& [dtype, largest] : {std::pair{"BF16", 0x7f7f}, {"F16", 0x7bff}}) {
    const TemporaryFolder folder;
    const int rows = 3, columns = 50000;
    const auto refused = [&](int at, int bits) {
      std::vector<uint16_t> numbers(size_t(rows * columns), uint16_t(largest));
      numbers[size_t(at)] = uint16_t(bits);
      std::string header = fmt::format(R"({{"w":{{"dtype":"{}","shape":[{},{}],"data_offsets":[0,{}]}}}})", dtype,
                                             rows, columns, 2 * rows * columns);
      while (header.size() % 8) header += ' ';
      const uint64_t length = header.size();
      write_file(folder / "model.safetensors", std::string(reinterpret_cast<const char*>(&length), 8) + header +
                     std::string(reinterpret_cast<const char*>(numbers.data()), numbers.size() * 2));
      return refusal([&] {
        HfWeights(folder.path, "c", [](const std::string&) { return std::string("w"); })
            .params()
            .stored("w", rows, columns);
      });
    };
    CHECK(refused(7, largest | 0x8000) == "");
    CHECK(holds(refused(149999, largest + 1), "the tensor w holds NaN or infinity, first at (2, 49999)"));
    CHECK(holds(refused(50001, 0xffff), "first at (1, 1)"));
  }
}

TEST_CASE("hf: a tensor too many, too few or of another shape, and damaged files, are refused in one clear line each") {
  CHECK(Spoiled().refused() == "");
  {
    Spoiled s;
    s.tensors.pop_back();
    CHECK(s.refused() == "2: F has no tensor model.layers.0.mlp.down_proj.weight, which F/config.json asks for");
  }
  {
    Spoiled s;
    s.tensors.push_back({"model.layers.0.self_attn.q_norm.weight", Tensor::full({2}, 1)});
    CHECK(s.refused() ==
          "2: F/model.safetensors has a tensor model.layers.0.self_attn.q_norm.weight (2), which the "
          "model of F/config.json does not use; is it of another architecture?");
    s.config["model_type"] = "qwen3", s.config["head_dim"] = 2;
    CHECK(s.refused() == "2: F has no tensor model.layers.0.self_attn.k_norm.weight, which F/config.json asks for");
    s.config["model_type"] = "phi3", s.config.erase("head_dim");
    CHECK(s.refused() == "2: F has no tensor model.layers.0.self_attn.qkv_proj.weight, which F/config.json asks for");
    s.tensors.push_back({"model.layers.0.self_attn.qkv_proj.weight", Tensor::full({6, 4}, 1)});
    CHECK(s.refused() == "2: F/model.safetensors: the tensor model.layers.0.self_attn.qkv_proj.weight is (6, 4), but "
                         "F/config.json requires (8, 4)");
  }
  {
    Spoiled s;
    s.tensors[0].values = Tensor::full({6, 4}, 1);
    CHECK(s.refused() ==
          "2: F/model.safetensors: the tensor model.embed_tokens.weight is (6, 4), but F/config.json "
          "requires (5, 4)");
    s.config["vocab_size"] = 6;
    CHECK(holds(s.refused(), "the tensor lm_head.weight is (5, 4)"));
    s.config["tie_word_embeddings"] = true;  // a head that is there is still read
    CHECK(holds(s.refused(), "the tensor lm_head.weight is (5, 4)"));
  }
  {
    Spoiled s;
    s.tensors.clear();
    CHECK(holds(s.refused(), "2: F has neither model.safetensors nor model.safetensors.index.json; save the model"));
  }
  {
    Spoiled s;
    CHECK(s.refused() == "");
    const std::string path = s.folder / "model.safetensors", whole = read_file(path);
    write_file(path, whole.substr(0, whole.size() - 8));
    CHECK(s.opened() ==
          "1: F/model.safetensors is cut off: in its header the tensor model.layers.0.mlp.down_proj.weight ends after "
          "688 bytes of numbers, but only 680 are there; fetch it again");
    write_file(path, whole.substr(0, 100));
    CHECK(holds(s.opened(), "1: F/model.safetensors is cut off, or not a safetensors file: its header has"));
    write_file(path, whole.substr(0, 4));
    CHECK(s.opened() == "1: F/model.safetensors is cut off after 4 bytes; fetch it again");
    write_file(path, std::string("\x04\0\0\0\0\0\0\0nono", 12));
    CHECK(s.opened() == "2: the header of F/model.safetensors is not valid JSON: it has an error at byte 2; "
                        "save or fetch it again");
    std::string other = whole;
    other.replace(other.find("F32"), 3, "I32");
    write_file(path, other);
    CHECK(holds(s.opened(), "model.embed_tokens.weight is stored as I32; poslab computes with F32, BF16 and F16"));
    write_file(path, whole);
    // shards
    const auto index = [&](const Json& map) {
      write_file(s.folder / "model.safetensors.index.json", Json{{"weight_map", map}}.dump());
      return s.opened();
    };
    fs::rename(path, s.folder / "shard.safetensors");
    Json map = Json::object();
    for (const NamedTensor& t : s.tensors) map[t.name] = "shard.safetensors";
    CHECK(index(map) == "");
    Json missing = map;
    missing["lm_head.weight"] = "model-00002-of-00002.safetensors";
    CHECK(index(missing) ==
          "2: F/shard.safetensors has a tensor lm_head.weight that the index does not list in this file");
    missing = map, missing["more"] = "model-00002-of-00002.safetensors";
    CHECK(index(missing) ==
          "2: there is no file F/model-00002-of-00002.safetensors");
    missing = map, missing["more"] = "shard.safetensors";
    CHECK(index(missing) == "2: shard.safetensors has no tensor more, but the index lists it there");
    missing = map, missing["more"] = "../x";
    CHECK(holds(index(missing), "\"more\" is listed in \"../x\"; it must be in a file in the same folder"));
    CHECK(holds(index(3), "has no object \"weight_map\""));
    write_file(path, whole);  // transformers looks for this file first; it needs no index
    CHECK(s.opened() == "");
    write_file(s.folder / "adapter_config.json", "{}");
    CHECK(holds(s.opened(), "2: F/adapter_config.json: weights with an adapter are not read; merge it into them"));
  }
  CHECK(holds(refusal([] { open_hf_model("/nowhere/at all"); }), "2: /nowhere/at all is not a folder; --hf names one"));
}

TEST_CASE("hf: a stored head is also a tied model's head, and its embedding if that is missing") {
  const auto logits = [](Spoiled& s) {
    CHECK(s.refused() == "");
    const NoGrad still;
    const PositionSample sequential(choose_sampler("sequential"), Resample::per_forward, {}, 1, 3);
    return open_hf_model(s.folder.path).net(Ids({1, 3}, {1, 2, 3}), 3, {sequential, {}}).values();
  };
  Spoiled s;
  uint32_t which = 0;
  for (NamedTensor& t : s.tensors) t.values = checks::random_tensor(t.values.shape(), ++which, 1);
  const auto with_tie = [&](bool tied) { return s.config["tie_word_embeddings"] = tied, logits(s); };
  const auto apart = with_tie(false);
  CHECK(with_tie(true) == apart);
  s.tensors[2].values = s.tensors[0].values;
  const auto together = with_tie(false);
  CHECK(together != apart);
  CHECK(with_tie(true) == together);
  s.tensors.erase(s.tensors.begin());  // without the embedding, only the head is left
  CHECK(with_tie(true) == together);
  s.tensors[1].name = "model.embed_tokens.weight";
  CHECK(with_tie(true) == together);
  s.config["tie_word_embeddings"] = false;
  CHECK(s.refused() == "2: F has no tensor lm_head.weight, which F/config.json asks for");
}

TEST_CASE("hf: a rotation that is given twice is read as transformers reads it, or refused") {
  const auto encoding = [](const std::string& type, const Json& changes) {
    Json config = {{"model_type", type},       {"vocab_size", 5},          {"hidden_size", 16},
                   {"intermediate_size", 6},   {"num_hidden_layers", 2},   {"num_attention_heads", 2},
                   {"num_key_value_heads", 2}, {"head_dim", 8},            {"max_position_embeddings", 64},
                   {"sliding_window", 4}};
    if (type == "llama") config.erase("sliding_window");
    if (type == "phi3") config.erase("head_dim");
    config.update(changes);
    std::string spelled;
    const std::string refused = refusal([&] { spelled = hf_config(config.dump(), "c").spec.encoding.spelled(); });
    return refused.empty() ? spelled : refused;
  };
  const Json linear = {{"rope_type", "linear"}, {"factor", 2.0}}, yarn = {{"type", "yarn"}, {"factor", 2.0}};
  CHECK(encoding("llama", {{"rope_scaling", Json::object()}, {"rope_parameters", linear}}) ==
        encoding("llama", {{"rope_parameters", linear}}));
  CHECK(encoding("llama", {{"rope_scaling", yarn}, {"rope_parameters", linear}}) ==
        "2: c: \"rope_scaling\" is {\"type\":\"yarn\",\"factor\":2.0}; it must be left out: "
        "\"rope_parameters\" replaces it");
  Json more = yarn;
  more["finetuned"] = true;
  CHECK(encoding("llama", {{"rope_scaling", more}}) == encoding("llama", {{"rope_scaling", yarn}}));
  more = linear, more["original_max_position_embeddings"] = 8;
  CHECK(encoding("llama", {{"rope_scaling", more}}) == encoding("llama", {{"rope_scaling", linear}}));
  CHECK(encoding("gemma3_text", {{"_sliding_window_pattern", 2}}) == encoding("gemma3_text", Json::object()));
  CHECK(holds(encoding("gemma3_text", {{"rope_scaling", {{"type", "linear"}, {"factor", 2.0}}}}),
              "2: c: rope_scaling: \"type\" is \"linear\"; it must be called \"rope_type\""));
  const Json lists = {{"type", "longrope"},
                      {"short_factor", {1, 1, 1, 1}},
                      {"long_factor", {1, 2, 3, 4}},
                      {"original_max_position_embeddings", 8}};
  CHECK(holds(encoding("phi3", {{"rope_scaling", lists}}), "length=4096"));  // Phi3Config's default
  CHECK(holds(encoding("phi3", {{"rope_scaling", lists}, {"original_max_position_embeddings", 16}}), "length=16,"));
}
