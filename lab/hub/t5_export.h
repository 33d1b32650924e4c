// Exports a trained T5 in the Hugging Face form, which transformers reads as a T5ForConditionalGeneration.
#pragma once
#include <string>
#include <vector>

#include "core/params.h"
#include "nn/t5.h"

namespace poslab::t5 {

// Makes the folder, with config.json and model.safetensors. params: of the model; ends: tokens that end a text. Throws
// BadInput if the folder exists, or with the reason why the form cannot express this model.
void export_hf(const T5&, const Params&, const std::vector<int>& ends, const std::string& folder);

}  // namespace poslab::t5
