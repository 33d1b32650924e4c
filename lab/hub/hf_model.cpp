#include "lab/hub/hf_model.h"

#include <filesystem>
#include <numeric>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/backend.h"
#include "core/error.h"
#include "lab/files/files.h"
#include "lab/hub/hf_tokenizer.h"
#include "lab/hub/hf_weights.h"
#include "lab/hub/keys.h"
#include "lab/hub/sentencepiece.h"

namespace poslab {
namespace {

// Older checkpoints store rotations, which the configuration already determines. transformers skips them, too.
bool is_spare(const std::string& name) { return name.ends_with(".rotary_emb.inv_freq"); }

}  // namespace

bool is_hf_folder(const std::string& path) {
  std::error_code none;  // ignored: unreadable paths are reported elsewhere
  return std::filesystem::exists(path + "/config.json", none) && !std::filesystem::exists(path + "/config.toml", none);
}

void require_folder(const std::string& folder) {
  if (!std::filesystem::is_directory(folder))
    bad_input(
        "{} is not a folder; --hf names one with config.json and model.safetensors. poslab fetches no models: "
        "`hf download NAME --local-dir FOLDER` does",
        folder);
  if (std::filesystem::exists(folder + "/config.toml") && !std::filesystem::exists(folder + "/config.json"))
    bad_input("{} is a run of poslab, but --hf names a checkpoint of Hugging Face's form; name the run without --hf",
              folder);
}

HfModel open_hf_model(const std::string& folder, Device device) {
  require_folder(folder);
  backend(device);  // throws if this machine lacks the device, before anything is read
  const std::string path = folder + "/config.json";
  HfConfig config = hf_config(read_input(path), path);
  const std::string head = hf_place("head.w", config.spec, config.form).tensor;
  std::string embedding = hf_place("embedding", config.spec, config.form).tensor;
  HfWeights weights(folder, path, [&](const std::string& parameter) {
    return parameter == "embedding" ? embedding : hf_place(parameter, config.spec, config.form);
  }, device);
  if (config.spec.tied) {  // as in transformers: a stored head is kept, and replaces an embedding that is missing
    embedding = weights.first_of({embedding, head});
    config.spec.tied = embedding == head || !weights.has(head);
  }
  std::map<std::string, StoredMatrix> matrices;
  const Params::StoredWeights stored = weights.stored();
  Decoder net(Params([&](const std::string& parameter, int rows, int columns) {
                return matrices[parameter] = stored(parameter, rows, columns);
              }, device),
              config.spec);
  weights.require_all_read(is_spare);
  return {folder, config, std::move(net), std::move(matrices)};
}

namespace {

// Whether the texts of a tokenizer.model begin with its <s>; tokenizer_config.json may turn that off.
bool begins_texts(const std::string& folder) {
  const std::string path = folder + "/tokenizer_config.json";
  if (!std::filesystem::exists(path)) return true;
  Keys config = keys_of(read_input(path), path);
  if (config.on("add_eos_token", false)) config.refuse("add_eos_token", "false: only tokens before a text are added");
  return config.on("add_bos_token", true);
}

std::shared_ptr<const Tokenizer> tokenizer_of(const std::string& folder, const std::string& path) {
  if (path.ends_with(".json")) return std::make_shared<const HfTokenizer>(read_input(path), path);
  return std::make_shared<const SentencePiece>(read_input(path), path, begins_texts(folder));
}

}  // namespace

void check_vocabulary(const Tokenizer& tokenizer, int vocabulary, const std::string& path) {
  if (tokenizer.size() > vocabulary)
    bad_input("{} has tokens up to {}, but its config.json gives the model {}: they do not belong together", path,
              tokenizer.size() - 1, vocabulary);
}

std::shared_ptr<const Tokenizer> open_hf_tokenizer(const HfModel& model) {
  return open_hf_tokenizer(model.folder, model.config.spec.vocabulary);
}

std::shared_ptr<const Tokenizer> open_hf_tokenizer(const std::string& folder, int vocabulary) {
  for (const char* name : {"/tokenizer.json", "/tokenizer.model"}) {
    const std::string path = folder + name;
    if (!std::filesystem::exists(path)) continue;
    auto tokenizer = tokenizer_of(folder, path);
    check_vocabulary(*tokenizer, vocabulary, path);
    return tokenizer;
  }
  bad_input("{} has no tokenizer.json and no tokenizer.model, and without tokens no text can be read", folder);
}

Tensor parameter_of(const std::string& name, const StoredMatrix& m) {
  const NoGrad still;
  std::vector<int> all(size_t(m.rows));
  std::iota(all.begin(), all.end(), 0);
  const Tensor matrix = gather(m, Ids({m.rows}, all));
  return m.rows == 1 ? matrix.reshape({m.columns}) : name == "embedding" ? matrix : transpose(matrix);
}

void require_trainable(const HfConfig& config, const std::string& folder) {
  const DecoderSpec& s = config.spec;
  const auto refuse_if = [&](bool has, const char* what) {
    if (has)
      bad_input("from = {}: its model has {}, which poslab does not train; begin with a LLaMA, or with a Qwen 2 or "
                "Mistral without windows", folder, what);
  };
  refuse_if(s.head_dim != 0, "heads of another width than hidden_size / num_attention_heads");
  refuse_if(s.output_bias, "a bias of attention's output (attention_bias)");
  refuse_if(!s.windows.empty(), "sliding windows");
  refuse_if(s.query_key_norm != QueryKeyNorm::none, "norms of queries and keys");
  refuse_if(s.norms != NormPlace::before, "norms after its sub-layers");
  refuse_if(s.gate != Activation::silu || s.embedding_scale != 1 || s.logit_cap != 0, "Gemma's gates, scales or caps");
  if (s.epsilon != 1e-5 && s.epsilon != 1e-6)
    bad_input("from = {}: its rms_norm_eps is {}, but poslab trains only with 1e-5 or 1e-6; begin with another model",
              folder, s.epsilon);
}

}  // namespace poslab
