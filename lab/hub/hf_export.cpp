#include "lab/hub/hf_export.h"

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/files/safetensors.h"
#include "lab/hub/hf_names.h"
#include "lab/hub/hf_pieces.h"
#include "lab/hub/hf_rope.h"

namespace poslab::language {
namespace {

using json = nlohmann::ordered_json;

[[noreturn]] void refuse(const std::string& what, const std::string& why) {
  bad_input("{} cannot be exported: {}", what, why);
}

json tokens_json(const std::vector<int>& tokens) {
  return tokens.empty() ? json() : tokens.size() == 1 ? json(tokens[0]) : json(tokens);
}

json config_json(const State& state, const Source& source, const HfRopeKeys& rope) {
  const DecoderSpec& s = state.net.spec();
  const char* type = rope.window ? "mistral" : "llama";
  const char* architecture = rope.window ? "MistralForCausalLM" : "LlamaForCausalLM";
  json all = {{"architectures", json::array({architecture})},
              {"model_type", type},
              {"vocab_size", s.vocabulary},
              {"hidden_size", s.d_model},
              {"intermediate_size", s.d_ff},
              {"num_hidden_layers", s.layers},
              {"num_attention_heads", s.heads},
              {"num_key_value_heads", s.key_heads},
              {"hidden_act", "silu"},
              {"rms_norm_eps", s.epsilon},
              {"max_position_embeddings", rope.longest.value_or(state.config.whole("train_length"))},
              {"rope_theta", rope.rope_parameters.at("rope_theta")},
              {"tie_word_embeddings", s.tied},
              {"bos_token_id", tokens_json(source.begin)},
              {"eos_token_id", tokens_json(source.ends)},
              {"torch_dtype", "float32"}};
  if (rope.window) all["sliding_window"] = rope.window;
  if (s.biases) all["attention_bias"] = true;
  json scaling = rope.rope_parameters;  // the spelling that all versions of transformers read
  scaling.erase("rope_theta");
  if (scaling.at("rope_type") != "default") all["rope_scaling"] = scaling;
  return all;
}

// Pairs of neighbouring channels become pairs half a head apart: channel 2 m of a head goes to m, 2 m + 1 to m + D/2.
int place(int channel, int head_dim, Pairing pairing) {
  const int in_head = channel % head_dim;
  return pairing == Pairing::half ? channel : channel - in_head + in_head % 2 * head_dim / 2 + in_head / 2;
}

// (in, out) -> (out, in), or a vector; the output channels of each head are permuted by `pairing`.
Tensor as_stored(const Tensor& x, int head_dim, Pairing pairing) {
  const int in = x.dims() == 1 ? 1 : x.dim(0), out = x.dim(-1);
  Tensor y(x.dims() == 1 ? Shape{out} : Shape{out, in});
  for (int i = 0; i < in; ++i)
    for (int o = 0; o < out; ++o)
      y.data()[int64_t(place(o, head_dim, pairing)) * in + i] = x.data()[int64_t(i) * out + o];
  return y;
}

std::string weights(const State& state, Pairing pairing) {
  const int head = state.net.spec().shape().head_dim();
  const auto name_of = [&](const std::string& parameter) { return hf_place(parameter, state.net.spec(), {}).tensor; };
  std::vector<NamedTensor> all;
  for (const Params::Entry& e : state.params.entries()) {
    const std::string name = name_of(e.name);
    if (name.empty()) refuse("the parameter " + e.name, "a checkpoint of this form has no such parameter");
    const bool turns = e.name.find("attention.query") != e.name.npos || e.name.find("attention.key") != e.name.npos;
    all.push_back(
        {name, e.name == "embedding" ? e.tensor : as_stored(e.tensor, head, turns ? pairing : Pairing::half)});
  }
  // With LLaMA's attention_bias the output projection has a bias, too. Qwen 2 has none there, but transformers would
  // split the texts of a Qwen 2 model by Qwen 2's rules, whatever the tokenizer.json says.
  for (int n = 0; state.net.spec().biases && n < state.net.spec().layers; ++n)
    all.push_back(
        {name_of(fmt::format("block{}.attention.output_bias", n)), Tensor::full({state.net.spec().d_model}, 0)});
  return safetensors_bytes<float>({{"format", "pt"}}, all);
}

// next_word (tasks/language/vocabulary.h) as a regular expression over GPT-2's letters, one for each byte.
std::string word_expression() {
  std::map<std::string, std::string> of;  // the letters of each class
  for (int b = 0; b < 256; ++b) {
    const bool letter = b >= 128 || (b >= 'a' && b <= 'z') || (b >= 'A' && b <= 'Z') || b == '_';
    const char* sign = letter                                 ? "letter"
                       : b >= '0' && b <= '9'                 ? "digit"
                       : b == ' ' || (b >= '\t' && b <= '\r') ? "blank"
                                                              : "other";
    const std::string& one = letter_of(static_cast<unsigned char>(b));
    of[sign] += (std::string("\\]^[-&~").find(one) != std::string::npos ? "\\" : "") + one;
  }
  const std::string space = letter_of(' '), blank = "[" + of["blank"] + "]";
  std::string all;
  for (const char* sign : {"letter", "digit", "other"}) {
    const std::string one = "[" + of[sign] + "]";  // at most 64 bytes, including a space before them
    all += space + one + "{1,63}|" + one + "{1,64}|";
  }
  // a run of blanks without the one that belongs to the next word
  return all + blank + "{1,63}(?=" + space + "[^" + of["blank"] + "])|" + blank + "{1,64}";
}

}  // namespace

std::string hf_tokenizer_json(const Vocabulary& v) {
  const auto letters = [&](int token) {
    std::string all;
    for (const char c : v.text(token)) all += letter_of(static_cast<unsigned char>(c));
    return all;
  };
  json vocabulary = json::object(), merges = json::array();
  for (int token = 0; token < v.size(); ++token) {
    if (vocabulary.contains(letters(token)))
      refuse("the vocabulary", fmt::format("its tokens {} and {} have the same bytes; train with other --merges",
                                           vocabulary[letters(token)].dump(), token));
    vocabulary[letters(token)] = token;
  }
  for (const auto& [left, right] : v.merges()) merges.push_back({letters(left), letters(right)});
  const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"trim_offsets", true}, {"use_regex", false}};
  const json words = {
      {"type", "Split"}, {"pattern", {{"Regex", word_expression()}}}, {"behavior", "Isolated"}, {"invert", false}};
  return json{{"version", "1.0"},
              {"truncation", nullptr},
              {"padding", nullptr},
              {"added_tokens", json::array()},
              {"normalizer", nullptr},
              {"pre_tokenizer", {{"type", "Sequence"}, {"pretokenizers", {bytes, words}}}},
              {"post_processor", nullptr},
              {"decoder", bytes},
              {"model",
               {{"type", "BPE"},
                {"dropout", nullptr},
                {"unk_token", nullptr},
                {"continuing_subword_prefix", nullptr},
                {"end_of_word_suffix", nullptr},
                {"fuse_unk", false},
                {"byte_fallback", false},
                {"ignore_merges", false},
                {"vocab", vocabulary},
                {"merges", merges}}}}
             .dump(1) +
         "\n";
}

void export_hf(const State& state, const Source& source, const std::string& folder, const TokenFiles& tokens) {
  const DecoderSpec& s = state.net.spec();
  if (s.gau) refuse("a model of gated attention units", "no architecture of transformers has them");
  if (s.loops > 1) refuse(fmt::format("a model with loops = {}", s.loops), "no architecture of transformers has them");
  if (s.temperature->name != "none")
    refuse("temperature " + s.temperature.spelled(), "the form has no factor on the logits; train without one");
  if (const std::string positions = test_sampler(state.config).spelled(); positions != "sequential")
    refuse("a model with positions = " + positions, "the form counts positions 0, 1, 2, ...; train with sequential");
  const HfRopeKeys rope = hf_rope_keys(s.encoding.spelled(), s.shape().head_dim());
  if (rope.window && s.biases) refuse("encoding " + s.encoding.spelled(), "with biases the form has no such windows");
  if (std::filesystem::exists(folder)) bad_input("{} exists already; choose another --to", folder);
  const Pairing pairing = s.encoding.choices["pairing"] == "half" ? Pairing::half : Pairing::interleaved;
  const std::string config = config_json(state, source, rope).dump(2) + "\n", numbers = weights(state, pairing);
  const std::string tokenizer = source.grammar || source.tokenizer ? "" : hf_tokenizer_json(source.vocabulary);
  make_folder(folder);
  if (!tokenizer.empty()) {
    write_file(folder + "/tokenizer.json", tokenizer);
    // without a class, transformers would choose the tokenizer of the architecture
    write_file(folder + "/tokenizer_config.json", "{\"tokenizer_class\": \"PreTrainedTokenizerFast\"}\n");
  }
  for (const auto& [name, bytes] : tokens)
    if (source.tokenizer) write_file(folder + "/" + name, bytes);
  write_file(folder + "/model.safetensors", numbers);
  write_file(folder + "/config.json", config);  // written last, so that a folder without it is not a model
}

}  // namespace poslab::language
