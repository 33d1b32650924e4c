// The program of tools/fuzz: poslab_fuzz TARGET FOLDER [OPTION...] runs libFuzzer on one target. The folder gets the
// target's seeds, and keeps inputs that reach new code. Without arguments it lists the targets, each with its sources.
#include <fmt/ranges.h>

#include <cstdlib>

#include "core/choices.h"
#include "lab/files/files.h"
#include "tests/tools/fuzz/target.h"

using namespace poslab;

namespace {

const fuzz::Target* target = nullptr;

// A line of a dictionary in libFuzzer's format.
std::string dictionary_line(const std::string& word) {
  std::string line;
  for (const char c : word) line += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
  return "\"" + line + "\"\n";
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  fuzz::answered([&] { target->read({reinterpret_cast<const char*>(bytes), size}); });
  return 0;
}

extern "C" int LLVMFuzzerInitialize(int* count, char*** words) {
  if (*count < 3) {
    for (const fuzz::Target& t : fuzz::all_targets()) fmt::print("{} {}\n", t.name, fmt::join(t.sources, " "));
    std::exit(0);
  }
  static std::vector<char*> all(*words, *words + *count);
  const std::string folder = all[2];
  target = &find("target", fuzz::all_targets(), all[1]);
  make_folder(folder);
  int n = 0;
  for (const std::string& seed : target->seeds()) write_file(fmt::format("{}/seed{:03}", folder, n++), seed);
  std::string dictionary;
  for (const std::string& word : target->words()) dictionary += dictionary_line(word);
  write_file(folder + ".dict", dictionary);
  static std::string longest = fmt::format("-max_len={}", target->longest), option = "-dict=" + folder + ".dict";
  all.erase(all.begin() + 1);
  all.push_back(longest.data());
  if (!dictionary.empty()) all.push_back(option.data());
  *count = int(all.size());
  all.push_back(nullptr);
  *words = all.data();
  return 0;
}
