#include "lab/language/hf_model.h"

#include <filesystem>
#include <set>

#include "core/error.h"
#include "lab/files.h"
#include "lab/language/safetensors.h"

namespace poslab {
namespace {

// What older checkpoints hold besides: rotations that follow from the configuration.
bool is_spare(const std::string& name, const DecoderSpec& s) {
  return name.ends_with(".rotary_emb.inv_freq") || (s.tied && name == "lm_head.weight");
}

}  // namespace

HfModel open_hf_model(const std::string& folder) {
  if (!std::filesystem::is_directory(folder))
    bad_input("{} is no folder; --hf names one with config.json and model.safetensors", folder);
  const std::string path = folder + "/config.json";
  const HfConfig config = hf_config(read_input(path), path);
  const StoredTensors tensors = map_weights(folder);
  std::set<std::string> read;
  const Params weights([&](const std::string& parameter, int rows, int columns) {
    const std::string name = hf_name(parameter);
    const auto found = tensors.find(name);
    if (found == tensors.end()) bad_input("{} has no tensor {}, which {} asks for", folder, name, path);
    const bool vector = rows == 1 && found->second.shape.size() == 1;
    const Shape wanted = vector ? Shape{columns} : Shape{rows, columns};
    if (found->second.shape != wanted)
      bad_input("{}: the tensor {} is {}, and by {} it has to be {}", found->second.path, name,
                to_string(found->second.shape), path, to_string(wanted));
    read.insert(name);
    return matrix_of(name, found->second);
  });
  Decoder net(weights, config.spec);
  for (const auto& [name, tensor] : tensors)
    if (!read.count(name) && !is_spare(name, config.spec))
      bad_input("{} has a tensor {} {}, for which a model of {} has no use; is it of another architecture?",
                tensor.path, name, to_string(tensor.shape), path);
  return {folder, config, std::move(net)};
}

std::shared_ptr<const HfTokenizer> open_hf_tokenizer(const HfModel& model) {
  const std::string path = model.folder + "/tokenizer.json", other = model.folder + "/tokenizer.model";
  if (!std::filesystem::exists(path))
    bad_input("{} has no tokenizer.json{}", model.folder,
              std::filesystem::exists(other)
                  ? "; its tokenizer.model is not read: AutoTokenizer.from_pretrained and save_pretrained of "
                    "transformers make the one from the other"
                  : ", and without tokens no text can be read");
  auto tokenizer = std::make_shared<const HfTokenizer>(read_file(path), path);
  if (tokenizer->size() > model.config.spec.vocabulary)
    bad_input("{} has tokens up to {}, and by its config.json the model has {}: they do not belong together", path,
              tokenizer->size() - 1, model.config.spec.vocabulary);
  return tokenizer;
}

}  // namespace poslab
