// Tensors in a file: 8 bytes with the header's length (little-endian), a JSON header, then the numbers. Hugging Face's
// checkpoints and our own have this format (huggingface.co/docs/safetensors). A header is accepted only if its types
// and shapes are valid, and if the tensors' bytes follow each other without a hole to the end of the file.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/tensor.h"
#include "lab/files/json.h"

namespace poslab {

struct TensorRecord {
  std::string name, dtype;                       // "F32", "BF16", "F16", ...
  Shape shape;
  uint64_t from = 0, to = 0;                     // offset of its bytes from the first number of the file
};
struct SafetensorsHeader {
  Json metadata = Json::object();                // strings by name
  std::vector<TensorRecord> tensors{};           // in the order of their bytes
  uint64_t numbers = 0;                          // offset of the first number in the file
};
// The header of a whole file; `path` is for messages. Throws BadInput for another format, and Failure with the tensor's
// name if bytes are missing or the header is impossible.
SafetensorsHeader read_safetensors(std::string_view file, const std::string& path);

int bytes_of_number(const std::string& dtype);   // 0 for an unknown one
template <class Number> constexpr const char* dtype_of() { return sizeof(Number) == 4 ? "F32" : "F64"; }

// A file of tensors of float or double, in the order given; metadata are strings by name.
struct NamedTensor { std::string name; Tensor values; };
template <class Number>
std::string safetensors_bytes(const Json& metadata, const std::vector<NamedTensor>&);

}  // namespace poslab
