// y_i = table[at_i]: rows looked up by number, an embedding for example. Rows that are read twice get both gradients.
#include "autograd/argument_checks.h"
#include "autograd/ops.h"
#include "autograd/tape.h"
#include "core/error.h"

namespace poslab {

Tensor gather(const Tensor& table, const Ids& at) {           // (N, ...), (A, ..., Z) -> (A, ..., Z, ...)
  if (table.dims() < 2) bad_input("gather: the table {} has no rows; give it two dimensions", to_string(table.shape()));
  const int entries = table.dim(0), n = int(table.size() / entries);
  if (const int64_t i = first_outside(present(at), entries); i >= 0)
    bad_input("gather: row {} of a table of {} rows; rows are 0 .. {}", at[i], entries, entries - 1);
  Shape shape = at.shape();
  shape.insert(shape.end(), table.shape().begin() + 1, table.shape().end());
  const Kernels& run = kernels(table.device());
  Tensor y(shape, table.device());
  const int* rows = at.on(table.device());
  run.gather(y.data(), table.data(), rows, at.size(), n);
  return record("gather", y, {table}, [&run, table, at, rows, entries, n](const real* dy) {
    run.gather_backward(table.grad_accumulator(), dy, rows, at.size(), n, entries);
  });
}

}  // namespace poslab
