// For tests of checkpoints in Hugging Face format: the golden files that tests/huggingface/ makes.
#pragma once
#include <cstdlib>
#include <string>

#include "lab/files/files.h"
#include "lab/files/json.h"
#include "lab/files/shell.h"
#include "tests/lab/helpers.h"
#include "tests/support/places.h"

namespace poslab::test {

inline const std::string golden_folder = std::string(source_folder) + "/tests/data/huggingface/";

inline Json golden(const std::string& file) { return parse_json(read_file(golden_folder + file), file); }

// Results of transformers for a model of that folder with another config.json (tests/huggingface/make.py).
inline const Json& hf_cases() {
  static const Json all = golden("cases.json");
  return all;
}

// Makes transformers read exported models, if tools/huggingface has installed it. folders: words of a shell.
inline void read_back(const std::string& folders) {
  const std::string python = std::string(source_folder) + "/.venv-huggingface/bin/python";
  if (!std::filesystem::exists(python)) {
    MESSAGE("transformers did not read the exports: tools/huggingface has not been run");
    return;
  }
  const TemporaryFolder folder;
  const std::string line = shell_word(python) + " -W ignore " +
                           shell_word(std::string(source_folder) + "/tests/huggingface/read_back.py") + folders +
                           " > " + shell_word(folder / "said") + " 2>&1";
  CHECK(std::system(line.c_str()) == 0);
  MESSAGE(read_file(folder / "said"));
}

}  // namespace poslab::test
