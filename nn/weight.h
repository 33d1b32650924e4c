// The matrix of a linear layer or a table: a parameter, or a matrix of an external checkpoint in its stored form.
#pragma once
#include "autograd/ops.h"
#include "core/params.h"

namespace poslab {

struct Weight {
  Tensor own{};                                  // the parameter, (in, out), or (rows, columns) for a table
  StoredMatrix stored{};                         // or the stored matrix, (out, in), or (rows, columns) for a table
  Device device() const { return stored ? stored.device : own.device(); }
};

// The parameter `name` from N(0, std^2), cut off at two standard deviations; or the matrix if `p` has stored weights.
inline Weight weight(const Params& p, const char* name, int in, int out, double std) {
  if (StoredMatrix m = p.stored(name, out, in)) return {.stored = std::move(m)};
  return {p.truncated_normal(name, {in, out}, std)};
}
inline Weight table(const Params& p, const char* name, int rows, int columns, double std) {
  if (StoredMatrix m = p.stored(name, rows, columns)) return {.stored = std::move(m)};
  return {p.truncated_normal(name, {rows, columns}, std)};
}

inline Tensor linear(const Tensor& x, const Weight& w, const Tensor& b = {}) {
  return w.stored ? linear(x, w.stored, b) : linear(x, w.own, b);
}
inline Tensor gather(const Weight& table, const Ids& at) {
  return table.stored ? gather(table.stored, at) : gather(table.own, at);
}

}  // namespace poslab
