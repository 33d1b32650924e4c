// Weights in safetensors files, mapped into memory: 8 bytes of header length, a JSON header, then the numbers. The form
// of Hugging Face's checkpoints, one file or several with an index (huggingface.co/docs/safetensors).
#pragma once
#include <map>
#include <string>
#include <vector>

#include "core/stored_matrix.h"
#include "core/tensor.h"

namespace poslab {

struct StoredTensor {
  std::string dtype;                             // "F32", "BF16", "F16", ...
  Shape shape;
  const char* at = nullptr;
  std::shared_ptr<const void> file{};            // which it lies in
  std::string path{};                            // of that
};

// All tensors of one file by name. Throws BadInput if there is no such file or it is none of this form, Failure if
// bytes are missing.
using StoredTensors = std::map<std::string, StoredTensor>;
StoredTensors map_safetensors(const std::string& path);
// Those of a folder: of model.safetensors, or of the files that model.safetensors.index.json names. Throws BadInput
// also where a file or tensor that the index names is missing, or one is there that it does not name.
StoredTensors map_weights(const std::string& folder);

// By which a file of temperatures knows these weights: core/checksum.h over names and numbers. Reads them all.
std::string weights_checksum(const StoredTensors&);

// As a matrix; of a vector the only row. Throws BadInput for numbers of a form that is not computed with.
StoredMatrix matrix_of(const std::string& name, const StoredTensor&);

// A file of float32 tensors, in the order given.
struct NamedTensor { std::string name; Tensor values; };
std::string safetensors_bytes(const std::vector<NamedTensor>&);

}  // namespace poslab
