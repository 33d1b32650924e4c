// cuBLAS's matrix product for cuda/driver.h. The library is not linked but loaded on first use, as OpenBLAS is, so
// programs that never call it run without it. The names and values come from cublas_v2.h.
#include <dlfcn.h>

#include <string>

#include "core/error.h"
#include "cuda/driver.h"
#include "cuda/queue.h"

namespace poslab::cuda {
namespace {

constexpr const char* library = "libcublas.so.13";
constexpr int transposed = 1, float_32 = 0, usual_algorithm = -1;
constexpr size_t workspace_bytes = size_t(32) << 20;       // NVIDIA's advice for an H100; smaller GPUs take less

int compute_type(Rounding form) { return form == Rounding::tf32 ? 77 : form == Rounding::bf16 ? 75 : 68; }

struct CuBlas {
  int (*create)(void** handle);
  int (*set_stream)(void* handle, cudaStream_t);
  int (*set_workspace)(void* handle, void* at, size_t bytes);
  int (*version)(void* handle, int*);
  const char* (*text)(int status);
  int (*multiply)(void* handle, int a_form, int b_form, int m, int n, int k, const void* alpha, const void* a,
                  int a_type, int a_line, long long a_step, const void* b, int b_type, int b_line, long long b_step,
                  const void* beta, void* c, int c_type, int c_line, long long c_step, int batch, int compute,
                  int algorithm);
};

CuBlas load() {
  const auto missing = [](const char* why) {
    bad_input("products = cublas: {}; install cuBLAS of CUDA 13 (pip install nvidia-cublas, with its folder on "
              "LD_LIBRARY_PATH), or use products = own", why);
  };
  void* const at = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (!at) missing(dlerror());
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::remove_reference_t<decltype(function)>>(dlsym(at, name));
    if (!function) missing(fmt::format("{} lacks {}", library, name).c_str());
  };
  CuBlas found{};
  find(found.create, "cublasCreate_v2"), find(found.set_stream, "cublasSetStream_v2");
  find(found.set_workspace, "cublasSetWorkspace_v2"), find(found.version, "cublasGetVersion_v2");
  find(found.text, "cublasGetStatusString"), find(found.multiply, "cublasGemmStridedBatchedEx");
  return found;
}
const CuBlas& cublas_library() {
  static const CuBlas found = load();
  return found;
}

void check_cublas(int status, const char* doing) {
  if (status != 0) failure("cuBLAS: {} failed: {}", doing, cublas_library().text(status));
}

// cuBLAS's handle of the calling thread's queue, with a workspace of its own, so that steps can be recorded and bits
// are the same every time.
struct Handle { void* at = nullptr; };
void* handle() {
  void*& at = of_this_queue<Handle>().at;
  if (at) return at;
  const CuBlas& use = cublas_library();
  check_cublas(use.create(&at), "starting it");
  check_cublas(use.set_stream(at, stream()), "giving it a stream");
  check_cublas(use.set_workspace(at, memory_for_good(int64_t(workspace_bytes / sizeof(real))), workspace_bytes),
               "giving it memory");
  return at;
}

}  // namespace

namespace driver {

std::string cublas() {
  int version = 0;
  check_cublas(cublas_library().version(handle(), &version), "asking for its version");
  return fmt::format("cuBLAS {}.{}.{}", version / 10000, version / 100 % 100, version % 100);
}

// cuBLAS stores matrices by columns, so it reads our c as its transpose: c^T = b^T a^T. If the lines of b run across
// the sum, b needs no transposition.
void multiply(const Gemm& g) {
  const float one = 1, before = g.add ? 1 : 0;
  check_cublas(cublas_library().multiply(handle(), g.b_along ? transposed : 0, g.a_along ? 0 : transposed, g.n, g.m,
                                         g.k, &one, g.b, float_32, g.b_line, g.b_step, g.a, float_32, g.a_line,
                                         g.a_step, &before, g.c, float_32, g.n, g.c_step, g.batch, compute_type(g.form),
                                         usual_algorithm),
               "a product");
}

}  // namespace driver
}  // namespace poslab::cuda
