// The targets of fuzzing. A target reads bytes as the program reads an untrusted file, or the words of a command line.
// BadInput and Failure are valid answers. Everything else is a defect: another exception, a violated law, a report of a
// sanitizer, unbounded time or memory. tools/fuzz looks for such bytes; tests/lab/files/fuzz.cpp reads its finds again.
#pragma once
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/error.h"

namespace poslab::fuzz {

using Strings = std::vector<std::string>;

struct Target {
  std::string name;
  Strings sources;  // source files whose coverage is reported
  void (*read)(const std::string& bytes);
  Strings (*seeds)();                             // files that the project writes or keeps; they must be valid
  Strings (*words)() = [] { return Strings(); };  // words for the fuzzer to insert
  int longest = 20000;                            // the most bytes of an input
};
const std::vector<Target>& all_targets();
// Each of these is defined in the file of its name.
Target checkpoint(), command_line(), hf_config(), npz(), plan(), samplers(), schemes(), safetensors(), tokenizer_json(),
    tokenizer_model(), toml();

// Runs the action. Returns whether it ended without BadInput or Failure.
bool answered(const std::function<void()>& action);
inline void check_law(bool law, const char* what) {
  if (!law) throw std::logic_error(what);
}

std::string golden(const std::string& file);  // the contents of a file of tests/data/huggingface

}  // namespace poslab::fuzz
