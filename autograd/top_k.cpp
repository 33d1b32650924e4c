// The k largest numbers of each row, in order, and their columns. The gradient goes to the places that they came from.
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

TopK top_k(const Tensor& x, int k) {                          // (..., n) -> (..., k) twice
  const int n = x.dim(-1);
  if (k < 1 || k > n) bad_input("top_k: k is {}, x is {}; k must be from 1 to {}", k, to_string(x.shape()), n);
  constexpr int most = 1 << 24;                               // a float cannot hold every larger whole number
  if (n > most) bad_input("top_k: x is {}; a row may have at most {} columns", to_string(x.shape()), most);
  const Kernels& run = kernels(x.device());
  Shape shape = x.shape();
  shape.back() = k;
  Tensor values(shape, x.device()), columns(shape, x.device());
  run.top_k(values.data(), columns.data(), x.data(), x.rows(), n, k);
  record("top_k", values, {x}, [&run, x, columns, n, k](const real* dy) {
    run.top_k_backward(x.grad_accumulator(), dy, columns.data(), x.rows(), n, k);
  });
  return {values, columns};
}

}  // namespace poslab
