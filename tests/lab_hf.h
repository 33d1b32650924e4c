// For tests of checkpoints of the Hugging Face form: the golden files that tests/huggingface/ makes.
#pragma once
#include <nlohmann/json.hpp>
#include <string>

#include "lab/files.h"
#include "tests/places.h"

namespace poslab::test {

inline const std::string golden_folder = std::string(source_folder) + "/tests/huggingface/golden/";

using Json = nlohmann::ordered_json;
inline Json golden(const std::string& file) { return Json::parse(read_file(golden_folder + file)); }

}  // namespace poslab::test
