// Safetensors files of external checkpoints.
#include "lab/files/safetensors.h"

#include "tests/tools/fuzz/target.h"

namespace poslab::fuzz {

Target safetensors() {
  return {.name = "safetensors",
          .sources = {"lab/files/safetensors.cpp", "lab/files/json.cpp"},
          .read =
              [](const std::string& bytes) {
                const SafetensorsHeader header = read_safetensors(bytes, "FILE");
                for (const TensorRecord& t : header.tensors)
                  check_law(t.from <= t.to && header.numbers + t.to <= bytes.size(), "a tensor lies in its file");
              },
          .seeds =
              [] {
                return Strings{safetensors_bytes<float>({{"format", "pt"}}, {{"a", Tensor::full({2, 3}, 1)}}),
                               safetensors_bytes<double>(
                                   Json::object(), {{"a.b", Tensor::full({4}, 2)}, {"none", Tensor::full({1, 1}, 1)}})};
              },
          .words =
              [] {
                return Strings{"\"__metadata__\":",    "\"dtype\":", "\"shape\":[", "\"data_offsets\":[", "BF16",
                               "18446744073709551615", "4294967297", "2147483648"};
              }};
}

}  // namespace poslab::fuzz
