// The targets of fuzzing. A target takes bytes as the program takes a stranger's file, or the words of a command line.
// BadInput and Failure are answers. All else is a defect: another exception, a law that does not hold, a sanitizer's
// report, unbounded time or memory. tools/fuzz looks for such bytes; tests/lab/files/fuzz.cpp reads its finds again.
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
  Strings sources;  // whose coverage is told
  void (*read)(const std::string& bytes);
  Strings (*seeds)();                             // files that the project writes, or keeps from others: all are read
  Strings (*words)() = [] { return Strings(); };  // for the fuzzer to put in
  int longest = 20000;                            // bytes of an input
};
const std::vector<Target>& all_targets();
// Each in the file of its name.
Target checkpoint(), command_line(), hf_config(), npz(), plan(), samplers(), schemes(), safetensors(), tokenizer_json(),
    tokenizer_model(), toml();

// Does it. Whether it was done, and not answered by BadInput or Failure.
bool answered(const std::function<void()>& action);
inline void check_law(bool law, const char* what) {
  if (!law) throw std::logic_error(what);
}

std::string golden(const std::string& file);  // of tests/data/huggingface

}  // namespace poslab::fuzz
