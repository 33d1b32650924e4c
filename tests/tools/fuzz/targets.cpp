#include "lab/files/files.h"
#include "tests/support/places.h"
#include "tests/tools/fuzz/target.h"

namespace poslab::fuzz {

const std::vector<Target>& all_targets() {
  static const std::vector<Target> all = {checkpoint(), command_line(),   hf_config(),      npz(),
                                          plan(),       samplers(),       schemes(),        safetensors(),
                                          toml(),       tokenizer_json(), tokenizer_model()};
  return all;
}

bool answered(const std::function<void()>& action) {
  try {
    action();
    return true;
  } catch (const BadInput&) { return false; } catch (const Failure&) {
    return false;
  }
}

std::string golden(const std::string& file) {
  return read_file(std::string(test::source_folder) + "/tests/data/huggingface/" + file);
}

}  // namespace poslab::fuzz
