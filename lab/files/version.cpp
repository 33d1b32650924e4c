#include "lab/files/version.h"

#include "commit.h"  // made by cmake/commit.cmake
#include "core/backend.h"
#include "core/error.h"
#include "core/openblas.h"
#include "core/parallel.h"

namespace poslab {
namespace {

std::string cuda() {
  try {
    return backend(Device::cuda).name();
  } catch (const BadInput& e) {
    return fmt::format("no ({})", e.what());
  }
}

}  // namespace

std::string engine_in_full(Engine e) {
  const std::string name = engine_names[int(e)];
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
  return {{"version", POSLAB_VERSION},
          {"commit", POSLAB_COMMIT},
          {"scalar", sizeof(real) == 4 ? "float" : "double"},
          {"isa", kernels(Device::cpu).name},
          {"products", engine_in_full(usual_engine())},
          {"threads", std::to_string(threads())},
          {"cuda", cuda()}};
}

std::string version_line() { return fmt::format("poslab {} (commit {})", POSLAB_VERSION, POSLAB_COMMIT); }

}  // namespace poslab
