#include "lab/hub/hf_model.h"

#include <algorithm>
#include <filesystem>

#include "core/error.h"
#include "lab/files/files.h"
#include "lab/hub/hf_tokenizer.h"
#include "lab/hub/hf_weights.h"
#include "lab/hub/t5_hf.h"
#include "lab/hub/t5_tokens.h"

namespace poslab::t5 {
namespace {

// The embedding under its own name, or under those of the two stacks, which all are one.
std::string embedding_of(const HfWeights& weights) {
  for (const char* name : {"encoder.embed_tokens.weight", "decoder.embed_tokens.weight"})
    if (!weights.has("shared.weight") && weights.has(name)) return name;
  return "shared.weight";
}

// Copies, and a table of older checkpoints that transformers does not read either.
bool is_spare(const std::string& name) {
  return name == "encoder.embed_tokens.weight" || name == "decoder.embed_tokens.weight" ||
         name == "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight";
}

}  // namespace

HfModel open_hf_model(const std::string& folder) {
  must_be_folder(folder);
  const std::string path = folder + "/config.json", more = folder + "/generation_config.json";
  HfConfig config = hf_config(read_input(path), path);
  if (std::filesystem::exists(more)) read_generation(read_input(more), more, config);
  std::string embedding;
  HfWeights weights(folder, path, [&](const std::string& parameter) {
    return parameter == "embedding" ? embedding : hf_name(parameter, config.spec.gate.has_value());
  });
  embedding = embedding_of(weights);
  config.spec.tied = !weights.has("lm_head.weight");
  T5 net(weights.params(), config.spec);
  weights.must_be_all_read(is_spare);
  return {folder, config, std::move(net)};
}

std::shared_ptr<const Tokenizer> open_hf_tokenizer(const HfModel& model) {
  const std::string pieces = model.folder + "/spiece.model", other = model.folder + "/tokenizer.json";
  const int vocabulary = model.config.spec.vocabulary;
  const auto fitting = [&](std::shared_ptr<const Tokenizer> tokenizer, const std::string& path) {
    must_fit(*tokenizer, vocabulary, path);
    return tokenizer;
  };
  if (std::filesystem::exists(pieces)) {
    const std::string settings = model.folder + "/tokenizer_config.json";
    const int extra = std::filesystem::exists(settings) ? extra_ids(read_input(settings), settings) : -1;
    return fitting(std::make_shared<const Tokens>(read_input(pieces), pieces, extra, vocabulary), pieces);
  }
  if (std::filesystem::exists(other))
    return fitting(std::make_shared<const HfTokenizer>(read_input(other), other), other);
  bad_input("{} has no spiece.model and no tokenizer.json, and without tokens no text can be read", model.folder);
}

std::vector<int> tokens_of(const HfModel& model, const Tokenizer& tokenizer, const std::string& text) {
  std::vector<int> all = tokenizer.encode(text);
  if (const std::vector<int>& ends = model.config.writing.ends; !ends.empty()) all.push_back(ends[0]);
  return all;
}

std::string text_of(const T5Spec& spec, const Tokenizer& tokenizer, const std::vector<int>& tokens) {
  std::string all;
  for (const int token : tokens)
    if (token != spec.start) all += tokenizer.text(token);
  return all.starts_with(' ') ? all.substr(1) : all;
}

}  // namespace poslab::t5
