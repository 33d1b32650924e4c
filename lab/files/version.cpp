#include "lab/files/version.h"

#include <fmt/chrono.h>

#include <chrono>
#include <fstream>
#include <map>

#include "commit.h"  // made by cmake/commit.cmake
#include "core/backend.h"
#include "core/error.h"
#include "core/platform/openblas.h"
#include "core/platform/isa.h"
#include "core/platform/parallel.h"
#include "experiment/numerics.h"

namespace poslab {
namespace {

std::string cuda() {
  try {
    return backend(Device::cuda).name();
  } catch (const std::exception& e) {      // a run on the CPU records this, even if the GPU does not work
    return fmt::format("no ({})", e.what());
  }
}

}  // namespace

std::string version() { return POSLAB_VERSION; }

std::string engine_in_full(Engine e, Rounding how) {
  const std::string name = engine_names[int(e)];
  if (how == Rounding::bf16) return fmt::format("{}, bf16 {}", name, bf16_products());
  return e == Engine::openblas ? fmt::format("{}: {}", name, openblas().name) : name;
}

std::string openblas_in_full() {
  try {
    return fmt::format("{}, own threads off, from {}", openblas().name, openblas().file);
  } catch (const BadInput& e) {
    return fmt::format("no ({})", e.what());
  }
}

std::vector<std::pair<std::string, std::string>> about() {
  return {{"version", version()},
          {"commit", POSLAB_COMMIT},
          {"scalar", sizeof(real) == 4 ? "float" : "double"},
          {"isa", kernels(Device::cpu).name},
          {"numerics", numerics(isa())},
          {"products", engine_in_full(default_engine())},
          {"bf16", bf16_products()},
          {"threads", std::to_string(threads())},
          {"cuda", cuda()}};
}

// AMD's processors have one name in virtual machines; the family tells them apart, 25 for Zen 3 and 4, 26 for Zen 5.
std::string processor() {
  std::ifstream file("/proc/cpuinfo");
  std::map<std::string, std::string> facts;  // the first core's
  for (std::string line; std::getline(file, line) && !line.empty();) {
    const size_t colon = line.find(':'), name = line.find_last_not_of(" \t", colon - 1);
    if (colon != std::string::npos && colon + 2 < line.size()) facts[line.substr(0, name + 1)] = line.substr(colon + 2);
  }
  if (!facts.count("model name")) return "";
  return fmt::format("{} (family {}, model {})", facts["model name"], facts["cpu family"], facts["model"]);
}

std::string today() {
  return fmt::format("{:%Y-%m-%d}", std::chrono::floor<std::chrono::seconds>(std::chrono::system_clock::now()));
}

std::string version_line() { return fmt::format("poslab {} (commit {})", version(), POSLAB_COMMIT); }

}  // namespace poslab
