#include "core/platform/openblas.h"

#include <dlfcn.h>

#include <sstream>

#include "core/error.h"

namespace poslab {
namespace {

template <class Function>
Function* function(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

// Returns why the library cannot be used, or "".
std::string fill(OpenBlas& blas, void* library) {
  constexpr const char* product = sizeof(real) == 4 ? "cblas_sgemm" : "cblas_dgemm";
  blas.gemm = function<std::remove_pointer_t<decltype(blas.gemm)>>(library, product);
  const auto flavour = function<int()>(library, "openblas_get_parallel");
  const auto config = function<char*()>(library, "openblas_get_config"),
             core = function<char*()>(library, "openblas_get_corename");
  const auto set_threads = function<void(int)>(library, "openblas_set_num_threads");
  if (!blas.gemm || !flavour || !config || !core || !set_threads) return fmt::format("it lacks {}, or does not "
      "say how it was built", product);
  if (flavour() == 0) return "it is the serial flavour, which gives wrong numbers when several threads call it";
  if (flavour() != 1) return "it is the openmp flavour, which starts threads of its own in each of ours";
  if (std::string(config()).find("USE64BITINT") != std::string::npos) return "its integers have 64 bits";
  set_threads(1);                                // its own threads would take turns with ours on the same cores
  std::istringstream words(config());
  std::string name, version;
  words >> name >> version;
  blas.name = fmt::format("{} {}, core {}, pthread", name, version, core());
  return "";
}

// Tries Debian's name for the flavour that the system has chosen, then the name of the flavour with threads.
OpenBlas load() {
  std::string wrong;
  for (const char* file : {"libopenblas.so.0", "libopenblasp.so.0"}) {
    OpenBlas blas{nullptr, file, ""};
    void* library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    const std::string found = library ? fmt::format("{}: {}", file, fill(blas, library)) : dlerror();
    if (!blas.name.empty()) return blas;
    if (library) dlclose(library);
    if (wrong.empty()) wrong = found;
  }
  bad_input("products = openblas: {}; "
            "install OpenBLAS (Debian: apt install libopenblas0-pthread), or use products = own", wrong);
}

}  // namespace

const OpenBlas& openblas() {
  static const OpenBlas found = load();
  return found;
}

bool has_openblas() {
  try {
    return openblas(), true;
  } catch (const BadInput&) { return false; }
}

}  // namespace poslab
