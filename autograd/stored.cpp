// Layers whose weights stay as an external checkpoint stores them: y = x w^T + b, and rows of a table. These weights
// are not trained, so there is no backward pass.
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {
Tensor linear(const Tensor& x, const StoredMatrix& w, const Tensor& b) {
  if (x.dim(-1) != w.columns || (b && b.shape() != Shape{w.rows}))
    bad_input("linear: x is {}, the stored w ({}, {}), b {}; they must be (..., in), (out, in), (out)",
              to_string(x.shape()), w.rows, w.columns, b ? to_string(b.shape()) : "absent");
  if (recording() && x.requires_grad())
    bad_input("linear: stored weights have no backward pass, and x requires a gradient; compute under NoGrad");
  Shape shape = x.shape();
  shape.back() = w.rows;
  if (x.device() != w.device) bad_input("linear: x and the stored w are on different devices; move x to w's");
  Tensor y(shape, w.device);
  kernels(w.device).linear_stored(y.data(), x.data(), w.as, w.at, b.data(), x.rows(), w.columns, w.rows);
  return without_gradient("linear", y, {x, b});
}

Tensor gather(const StoredMatrix& table, const Ids& at) {
  for (int64_t i = 0; i < at.size(); ++i)
    if (at[i] < 0 || at[i] >= table.rows) bad_input("gather: row {} of a table of {} rows", at[i], table.rows);
  Shape shape = at.shape();
  shape.push_back(table.columns);
  Tensor y(shape, table.device);
  kernels(table.device).gather_stored(y.data(), table.as, table.at, at.on(table.device), at.size(), table.columns);
  return without_gradient("gather", y, {});
}

}  // namespace poslab
