#include "bench/all.h"

#if defined(POSLAB_WITH_DNNL) && !defined(POSLAB_DOUBLE)
#include <omp.h>

#include <memory>
#include <unordered_map>
#include <oneapi/dnnl/dnnl.hpp>

#include "core/platform/parallel.h"

namespace poslab {

std::function<void()> dnnl_product(Rounding how, int batch, int m, int k, int n, void* a, void* b, real* c) {
  using namespace dnnl;
  omp_set_num_threads(threads());
  const engine cpu(engine::kind::cpu, 0);
  const auto factor = how == Rounding::bf16 ? memory::data_type::bf16 : memory::data_type::f32;
  const auto of = [](int batch, int rows, int columns, memory::data_type numbers) {
    const memory::dims dims = batch > 1 ? memory::dims{batch, rows, columns} : memory::dims{rows, columns};
    return memory::desc(dims, numbers, batch > 1 ? memory::format_tag::abc : memory::format_tag::ab);
  };
  const memory::desc left = of(batch, m, k, factor), right = of(batch, k, n, factor),
                     sums = of(batch, m, n, memory::data_type::f32);
  const matmul::primitive_desc description(matmul::desc(left, right, sums), cpu);
  const matmul product(description);
  const std::unordered_map<int, memory> places{{DNNL_ARG_SRC, memory(left, cpu, a)},
                                               {DNNL_ARG_WEIGHTS, memory(right, cpu, b)},
                                               {DNNL_ARG_DST, memory(sums, cpu, c)}};
  const auto order = std::make_shared<stream>(cpu);
  return [=] {
    product.execute(*order, places);
    order->wait();
  };
}

}  // namespace poslab
#else
namespace poslab {
std::function<void()> dnnl_product(Rounding, int, int, int, int, void*, void*, real*) { return {}; }
}  // namespace poslab
#endif
