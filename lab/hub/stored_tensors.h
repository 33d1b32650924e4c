// Weights in safetensors files (lab/files/safetensors.h), mapped into memory: one file, or several with an index.
#pragma once
#include <map>
#include <string>

#include "core/stored_matrix.h"
#include "core/tensor.h"

namespace poslab {

struct StoredTensor {
  std::string dtype;                             // "F32", "BF16", "F16", ...
  Shape shape;
  const char* at = nullptr;
  std::shared_ptr<const void> file{};            // the file of the tensor
  std::string path{};                            // of that file
};

// All tensors of one file by name. Throws BadInput if the file is missing or has another form, Failure if it is
// damaged.
using StoredTensors = std::map<std::string, StoredTensor>;
StoredTensors map_safetensors(const std::string& path);
// All tensors of a folder: from model.safetensors or, without it, the files in model.safetensors.index.json, in the
// order of transformers. Also throws BadInput if a file or tensor in the index is missing, if a file has a tensor that
// the index lacks, or if there is an adapter, which would change the weights.
StoredTensors map_weights(const std::string& folder);

// A checksum over all names and numbers (core/checksum.h), which identifies these weights in a file of temperatures.
// Reads the whole files.
std::string weights_checksum(const StoredTensors&);

// Checksums of the checkpoint in a folder, by "weights", "config.json" and "tokenizer", for records of its tests
// (lab/runs/other_test.h).
std::map<std::string, std::string> checksums_of_hf(const std::string& folder);

// The tensor as a matrix; a vector becomes its only row. Throws BadInput for an unsupported type of numbers.
StoredMatrix matrix_of(const std::string& name, const StoredTensor&);

}  // namespace poslab
