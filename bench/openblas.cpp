#include "bench/all.h"

#include <dlfcn.h>

#include <cstdint>

#include "core/platform/openblas.h"
#include "core/platform/parallel.h"

namespace poslab {

std::string openblas_name() { return has_openblas() ? openblas().name : "none"; }

// cblas_sbgemm: the factors are bf16, the result is fp32. Not all builds have it.
using Sbgemm = void (*)(int order, int a_form, int b_form, int m, int n, int k, float alpha, const uint16_t* a,
                        int a_line, const uint16_t* b, int b_line, float beta, real* c, int c_line);
namespace {
Sbgemm sbgemm() {
  void* library = has_openblas() ? dlopen(openblas().file.c_str(), RTLD_LAZY | RTLD_NOLOAD) : nullptr;
  return library ? reinterpret_cast<Sbgemm>(dlsym(library, "cblas_sbgemm")) : nullptr;
}
}  // namespace
bool has_sbgemm() { return sbgemm() != nullptr; }

// Each of our threads takes a block of rows, or a share of the batch.
std::function<void()> openblas_product(Rounding how, int batch, int m, int k, int n, const void* a, const void* b,
                                       real* c) {
  const bool rounded = how == Rounding::bf16;
  if (!has_openblas() || (rounded && !has_sbgemm())) return {};
  return [=, in_bf16 = sbgemm()] {
    const int64_t rows = batch > 1 ? batch : m, share = (rows + threads() - 1) / threads();
    parallel_ranges(rows, share, [&](int64_t from, int64_t to) {
      constexpr int row_by_row = 101, as_it_lies = 111;               // CBLAS's numbers
      const auto product = [&](int64_t matrix, int64_t row, int64_t count) {
        const auto call = [&](auto gemm, auto* left, auto* right) {
          gemm(row_by_row, as_it_lies, as_it_lies, int(count), n, k, 1, left + (matrix * m + row) * k, k,
               right + matrix * k * n, n, 0, c + (matrix * m + row) * n, n);
        };
        if (rounded)
          call(in_bf16, static_cast<const uint16_t*>(a), static_cast<const uint16_t*>(b));
        else
          call(openblas().gemm, static_cast<const real*>(a), static_cast<const real*>(b));
      };
      if (batch == 1) return product(0, from, to - from);
      for (int64_t matrix = from; matrix < to; ++matrix) product(matrix, 0, m);
    });
  };
}

}  // namespace poslab
