// Tensor: a shape and a shared buffer. Always dense and row-major; there are no strides. Copying a Tensor copies the
// handle. An empty Tensor means "this term is absent". All handles share one gradient, as they share the values.
#pragma once
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/device.h"
#include "core/real.h"
#include "core/accumulator.h"

namespace poslab {

using Shape = std::vector<int>;
std::string to_string(const Shape&);  // (128, 40, 64)
int64_t size_of(const Shape&);        // number of elements

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Shape shape, Device device = Device::cpu);            // not initialized; BadInput for sizes below 1
  static Tensor full(Shape shape, real value, Device device = Device::cpu);
  template <class T>
  static Tensor from(Shape shape, const std::vector<T>& values);        // on the host; BadInput unless they fill it
  // A tensor over existing values, dense and row-major on the host; `keep` owns their memory.
  static Tensor wrap(Shape shape, real* values, std::shared_ptr<const void> keep);
  Tensor to(Device) const;          // this tensor if it is on that device, else a copy without gradient

  const Shape& shape() const { return shape_; }
  int dims() const { return int(shape_.size()); }
  int dim(int i) const;             // negative i counts from the end: dim(-1) is the innermost
  int64_t size() const { return size_of(shape_); }
  int64_t rows() const { return size() / dim(-1); }  // a tensor seen as a matrix of rows
  Device device() const;

  // An address on the device, null for an absent tensor. A const Tensor is a const handle: its values may be written.
  real* data() const;
  std::vector<real> values() const; // a copy on the host
  void set(const real* values) const;   // copies size() values from the host
  real item() const;                // the only element; BadInput if there are others

  bool requires_grad() const;
  Tensor& require_grad();              // marks a leaf, or the result of a recorded op
  // For backward functions: where to add d loss / d this; null if it is not needed. From then on has_grad() is true.
  Accumulator grad_accumulator() const;
  Tensor grad() const;              // d loss / d this, same shape; zero if nothing has flowed in
  Tensor take_grad() const;         // returns grad(), with its memory if this tensor owns that; then clear_grad()
  bool has_grad() const;            // something has flowed in
  void clear_grad() const;          // grad() is zero again

  // Shares buffer and gradient, so nothing is recorded. One size may be -1. BadInput unless there are size() values.
  Tensor reshape(Shape) const;
  Tensor detach() const;            // same buffer, no gradient
  Tensor first(int n) const;        // indices 0 .. n-1 of axis 0: same buffer, no gradient. Failure for another n
  explicit operator bool() const { return storage_ != nullptr; }

 private:
  friend class Params;
  friend struct MadeIn;             // autograd/pass.h
  void require_size(int64_t n) const;
  Tensor view(real* at) const;      // this shape over memory of this storage, without gradient
  struct Storage;
  Storage& storage() const;  // throws BadInput if this tensor is absent
  std::shared_ptr<Storage> storage_;
  Shape shape_;
};

// Token ids, class labels, row numbers: integers that index something. Shared and read-only once made.
class Ids {
 public:
  Ids() = default;
  Ids(Shape shape, std::vector<int> values);   // throws BadInput unless the values fill the shape
  const Shape& shape() const { return shape_; }
  int64_t size() const { return values_ ? int64_t(values_->size()) : 0; }
  const int* data() const { return values_ ? values_->data() : nullptr; }   // on the host
  // For kernels: an address on the device, valid as long as these Ids; in Backend::step(), until the step ends.
  const int* on(Device) const;
  int operator[](int64_t i) const { return (*values_)[size_t(i)]; }
  explicit operator bool() const { return values_ != nullptr; }

 private:
  Shape shape_;
  std::shared_ptr<const std::vector<int>> values_;
  std::shared_ptr<Tensor> elsewhere_;   // the ids on another device, made on first use
};

template <class T>
Tensor Tensor::from(Shape shape, const std::vector<T>& values) {
  Tensor x(std::move(shape));
  x.require_size(int64_t(values.size()));
  std::transform(values.begin(), values.end(), x.data(), [](T v) { return real(v); });
  return x;
}

}  // namespace poslab
