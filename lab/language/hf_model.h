// A checkpoint of the Hugging Face form: a folder with config.json, model.safetensors or several such files with an
// index, and mostly tokenizer.json. Its weights stay in the files, which are mapped: they are read as they are stored,
// float32, bfloat16 or float16, and computing is in float32.
#pragma once
#include <memory>
#include <string>

#include "lab/language/hf_config.h"
#include "lab/language/hf_tokenizer.h"

namespace poslab {

struct HfModel {
  std::string folder;
  HfConfig config;
  Decoder net;
};
// Throws BadInput: something of the model is missing, unknown, too much or of another shape; Failure: a file is
// damaged.
HfModel open_hf_model(const std::string& folder);
// Throws BadInput: it has none, one that is not known, or one with tokens that the model does not have.
std::shared_ptr<const HfTokenizer> open_hf_tokenizer(const HfModel&);

}  // namespace poslab
