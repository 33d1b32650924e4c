// A checkpoint of the Hugging Face form: a folder with config.json, model.safetensors or several such files with an
// index, and usually tokenizer.json or tokenizer.model. Its weights stay in the files, which are mapped into memory, as
// float32, bfloat16 or float16; all computation is in float32. Matrices are copied to a GPU as they are stored.
#pragma once
#include <map>
#include <memory>
#include <string>

#include "lab/hub/hf_config.h"
#include "tasks/language/tokenizer.h"

namespace poslab {

struct HfModel {
  std::string folder;
  HfConfig config;
  Decoder net;
  std::map<std::string, StoredMatrix> matrices{};  // by parameter: (out, in), or a table; in mapped files
};
// Throws BadInput if part of the model is missing, unknown, superfluous or of another shape; Failure if a file is
// damaged.
HfModel open_hf_model(const std::string& folder, Device = Device::cpu);
// From its tokenizer.json or, without that file, from sentencepiece's tokenizer.model. Throws BadInput if both are
// missing, if the tokenizer is of an unknown kind, or if it has tokens that the model lacks.
std::shared_ptr<const Tokenizer> open_hf_tokenizer(const HfModel&);
std::shared_ptr<const Tokenizer> open_hf_tokenizer(const std::string& folder, int vocabulary);
// A stored matrix in the shape that the parameter of this name has in training.
Tensor parameter_of(const std::string& name, const StoredMatrix&);
// Throws BadInput if the model has a trait that no training option can express, and names the trait.
void require_trainable(const HfConfig&, const std::string& folder);
// Whether the path is a folder of this form: with a config.json, and not a run.
bool is_hf_folder(const std::string& path);
// Throws BadInput if the path of --hf is no folder, such as a model's name on the Hub, or is a run of poslab.
void require_folder(const std::string&);
// Throws BadInput if the tokenizer has more tokens than the model. path: the tokenizer's file, for messages.
void check_vocabulary(const Tokenizer&, int vocabulary, const std::string& path);

}  // namespace poslab
