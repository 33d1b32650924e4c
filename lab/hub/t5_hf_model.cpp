#include "lab/hub/hf_model.h"

#include <fmt/ranges.h>

#include <filesystem>

#include "core/backend.h"
#include "core/error.h"
#include "lab/files/files.h"
#include "lab/hub/hf_tokenizer.h"
#include "lab/hub/hf_weights.h"
#include "lab/hub/t5_hf.h"
#include "lab/hub/t5_tokens.h"

namespace poslab::t5 {
namespace {

// Other names of the embedding, in the order in which transformers ties them.
const std::string of_encoder = "encoder.embed_tokens.weight", of_decoder = "decoder.embed_tokens.weight",
                  head = "lm_head.weight";

// A table of older checkpoints that transformers also ignores.
bool is_spare(const std::string& name) {
  return name == "decoder.block.0.layer.1.EncDecAttention.relative_attention_bias.weight";
}

}  // namespace

HfModel open_hf_model(const std::string& folder, Device device) {
  require_folder(folder);
  backend(device);  // throws if this machine lacks the device, before anything is read
  const std::string path = folder + "/config.json", more = folder + "/generation_config.json";
  HfConfig config = hf_config(read_input(path), path);
  if (std::filesystem::exists(more)) read_generation(read_input(more), more, config);
  std::string embedding;
  HfWeights weights(folder, path, [&](const std::string& parameter) {
    return parameter == "embedding" ? embedding : hf_name(parameter, config.spec.gate.has_value());
  }, device);
  embedding = weights.first_of({"shared.weight", of_encoder, of_decoder, head});
  config.spec.tied = embedding == head || !weights.has(head);
  for (const std::string& stack : {of_encoder, of_decoder}) weights.drop_copy(stack, embedding);
  T5 net(weights.params(), config.spec);
  weights.require_all_read(is_spare);
  return {folder, config, std::move(net)};
}

std::shared_ptr<const Tokenizer> open_hf_tokenizer(const HfModel& model) {
  const std::string pieces = model.folder + "/spiece.model", other = model.folder + "/tokenizer.json";
  const int vocabulary = model.config.spec.vocabulary;
  const auto fitting = [&](std::shared_ptr<const Tokenizer> tokenizer, const std::string& path) {
    check_vocabulary(*tokenizer, vocabulary, path);
    return tokenizer;
  };
  if (std::filesystem::exists(other)) {  // first, as in transformers, which saves only this name since version 5
    const std::string text = read_input(other);
    if (!is_unigram(text, other)) return fitting(std::make_shared<const HfTokenizer>(text, other), other);
    const Unigram file = read_unigram(text, other);
    const std::vector<int>& ends = model.config.writing.ends;
    if (!file.after.empty() && (ends.empty() || file.after != std::vector{ends[0]}))
      bad_input("{}: it puts the tokens {} after a text, but the model's eos_token_id is {}; they must be the same",
                other, fmt::join(file.after, ", "), fmt::join(ends, ", "));
    return fitting(std::make_shared<const Tokens>(file, other), other);
  }
  if (std::filesystem::exists(pieces)) {
    const std::string settings = model.folder + "/tokenizer_config.json";
    const int extra = std::filesystem::exists(settings) ? extra_ids(read_input(settings), settings) : -1;
    return fitting(std::make_shared<const Tokens>(read_input(pieces), pieces, extra, vocabulary), pieces);
  }
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
