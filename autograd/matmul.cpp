// c = a b for every matrix of a batch, or one b for all of them.
//   da = dc b^T      db = a^T dc                          a: (..., m, k)   b: (..., k, n) or (k, n)   c: (..., m, n)
#include <limits>

#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {
namespace {

Product product(const Tensor& a, const Tensor& b) {
  if (a.dims() < 2 || b.dims() < 2)
    bad_input("matmul: needs matrices, got {} x {}; reshape vectors to (1, n) or (n, 1)", to_string(a.shape()),
              to_string(b.shape()));
  Product p;
  p.m = a.dim(-2), p.k = a.dim(-1), p.n = b.dim(-1);
  if (b.dim(-2) != p.k)
    bad_input("matmul: inner sizes differ, {} x {}{}", to_string(a.shape()), to_string(b.shape()),
              b.dim(-1) == p.k ? "; did you mean transpose(b)?" : "; the last size of a must be the second last of b");
  p.batch = a.rows() / p.m;
  if (b.dims() == 2) {                                    // with a single b, the batch only adds rows
    if (a.rows() > std::numeric_limits<int>::max())
      bad_input("matmul: {} has {} rows, and one matrix has at most 2^31 - 1; multiply a part at a time",
                to_string(a.shape()), a.rows());
    p.m = int(a.rows()), p.batch = 1;
    return p;
  }
  if (Shape(a.shape().begin(), a.shape().end() - 2) != Shape(b.shape().begin(), b.shape().end() - 2))
    bad_input("matmul: batches differ, {} x {}; they must be equal, or b a single matrix", to_string(a.shape()),
              to_string(b.shape()));
  p.a_step = int64_t(p.m) * p.k, p.b_step = int64_t(p.k) * p.n, p.c_step = int64_t(p.m) * p.n;
  return p;
}

// da += dc b^T   db += a^T dc
void matmul_backward(const Tensor& a, const Tensor& b, const Product& p, const real* dc) {
  const Kernels& run = kernels(a.device());
  if (Accumulator da = a.grad_accumulator()) {
    const Product q{.batch = p.batch, .m = p.m, .n = p.k, .k = p.n, .b_transposed = true,
                    .a_step = p.c_step, .b_step = p.b_step, .c_step = p.a_step};
    run.matmul(da, dc, b.data(), q);
  }
  if (Accumulator db = b.grad_accumulator()) {
    const Product q{.batch = p.batch, .m = p.k, .n = p.n, .k = p.m, .a_transposed = true,
                    .a_step = p.a_step, .b_step = p.c_step, .c_step = p.b_step};
    run.matmul(db, a.data(), dc, q);
  }
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  const Product p = product(a, b);
  Shape shape = a.shape();
  shape.back() = p.n;
  Tensor c(shape, a.device());
  kernels(a.device()).matmul({c.data(), true}, a.data(), b.data(), p);
  return record("matmul", c, {a, b}, [a, b, p](const real* dc) { matmul_backward(a, b, p, dc); });
}

}  // namespace poslab
