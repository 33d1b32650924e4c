// Tensor: a shape and a shared buffer. Always dense and row-major; there are no strides. Copying a Tensor copies the
// handle. An empty Tensor means "this term is absent". Its gradient lives beside its value.
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
int64_t size_of(const Shape&);

class Tensor {
 public:
  Tensor() = default;
  explicit Tensor(Shape shape, Device device = Device::cpu);            // uninitialized
  static Tensor full(Shape shape, real value, Device device = Device::cpu);
  template <class T>
  static Tensor from(Shape shape, const std::vector<T>& values);        // on the host; rounds to real
  // Over memory that `keep` owns: dense, row-major, on the host.
  static Tensor over(Shape shape, real* at, std::shared_ptr<const void> keep);
  Tensor to(Device) const;          // itself if it is there; else a copy, without gradient

  const Shape& shape() const { return shape_; }
  int dims() const { return int(shape_.size()); }
  int dim(int i) const;             // negative i counts from the end: dim(-1) is the innermost
  int64_t size() const { return size_of(shape_); }
  int64_t rows() const { return size() / dim(-1); }  // a tensor seen as a matrix of rows
  Device device() const;

  // the device's address; copying a Tensor copies the handle, so a const one still writes
  real* data() const;
  std::vector<real> values() const; // a copy on the host
  void set(const real* values) const;   // size() of them, from the host
  real item() const;                // the only element

  bool requires_grad() const;
  Tensor& require_grad();              // marks a leaf, or the result of a recorded op
  // for backward functions: where to add d loss / d this; null if it is not needed
  Accumulator grad_accumulator() const;
  Tensor grad() const;              // d loss / d this, same shape; zero if nothing has flowed in
  Tensor take_grad() const;         // grad() that gives its own memory away instead of copying, if it has any
  bool has_grad() const;            // something has flowed in
  void clear_grad() const;

  Tensor reshape(Shape) const;      // same buffer and same gradient, so it needs no backward; one size may be -1
  Tensor detach() const;            // same buffer, no gradient
  Tensor first(int n) const;        // the first n of axis 0: same buffer, no gradient
  explicit operator bool() const { return storage_ != nullptr; }

 private:
  friend class Params;
  friend struct MadeIn;             // autograd/pass.h
  void require_size(int64_t n) const;
  Tensor view(real* at) const;      // this shape over memory of this storage, without gradient
  struct Storage;
  Storage& storage() const;  // throws BadInput where it is absent
  std::shared_ptr<Storage> storage_;
  Shape shape_;
};

// Token ids, class labels, row numbers: integers that index something. Shared and read-only once made.
class Ids {
 public:
  Ids() = default;
  Ids(Shape shape, std::vector<int> at);
  const Shape& shape() const { return shape_; }
  int64_t size() const { return at_ ? int64_t(at_->size()) : 0; }
  const int* data() const { return at_ ? at_->data() : nullptr; }
  // for kernels: the device's address, valid as long as these Ids, or within a step until its end (core/backend.h)
  const int* on(Device) const;
  int operator[](int64_t i) const { return (*at_)[size_t(i)]; }
  explicit operator bool() const { return at_ != nullptr; }

 private:
  Shape shape_;
  std::shared_ptr<const std::vector<int>> at_;
  std::shared_ptr<Tensor> elsewhere_;   // a copy on another device, made on first use
};

template <class T>
Tensor Tensor::from(Shape shape, const std::vector<T>& values) {
  Tensor x(std::move(shape));
  x.require_size(int64_t(values.size()));
  std::transform(values.begin(), values.end(), x.data(), [](T v) { return real(v); });
  return x;
}

}  // namespace poslab
