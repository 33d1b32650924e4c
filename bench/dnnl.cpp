#include "bench/dnnl.h"

#if defined(POSLAB_WITH_DNNL) && !defined(POSLAB_DOUBLE)
#include <omp.h>

#include <memory>
#include <oneapi/dnnl/dnnl.hpp>

#include "core/parallel.h"

namespace poslab {

std::function<void()> dnnl_product(int batch, int m, int k, int n, real* a, real* b, real* c) {
  using namespace dnnl;
  omp_set_num_threads(threads());
  const engine cpu(engine::kind::cpu, 0);
  const auto of = [](int batch, int rows, int columns) {
    const memory::dims dims = batch > 1 ? memory::dims{batch, rows, columns} : memory::dims{rows, columns};
    return memory::desc(dims, memory::data_type::f32, batch > 1 ? memory::format_tag::abc : memory::format_tag::ab);
  };
  const matmul::primitive_desc description(matmul::desc(of(batch, m, k), of(batch, k, n), of(batch, m, n)), cpu);
  const matmul product(description);
  const std::unordered_map<int, memory> places{{DNNL_ARG_SRC, memory(of(batch, m, k), cpu, a)},
                                               {DNNL_ARG_WEIGHTS, memory(of(batch, k, n), cpu, b)},
                                               {DNNL_ARG_DST, memory(of(batch, m, n), cpu, c)}};
  const auto order = std::make_shared<stream>(cpu);
  return [=] {
    product.execute(*order, places);
    order->wait();
  };
}

}  // namespace poslab
#else
namespace poslab {
std::function<void()> dnnl_product(int, int, int, int, real*, real*, real*) { return {}; }
}  // namespace poslab
#endif
