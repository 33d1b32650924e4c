#include "core/tensor.h"

#include <fmt/ranges.h>

#include "core/backend.h"
#include "core/error.h"
#include "core/tensor_storage.h"

namespace poslab {

std::string to_string(const Shape& shape) { return fmt::format("({})", fmt::join(shape, ", ")); }

int64_t size_of(const Shape& shape) {
  int64_t n = 1;
  for (const int d : shape) n *= d;
  return n;
}

namespace {
void check_sizes(const Shape& shape) {
  if (shape.empty() || std::any_of(shape.begin(), shape.end(), [](int d) { return d < 1; }))
    bad_input("tensor: shape {} has a size below 1; every size must be positive", to_string(shape));
  double values = 1;
  for (const int d : shape) values *= d;
  if (values > double(int64_t(1) << 48)) bad_input("tensor: shape {} holds more than 2^48 values", to_string(shape));
}

// Replaces a size of -1 by n divided by the product of the other sizes.
void infer_size(Shape& shape, int64_t n) {
  int64_t known = 1;
  for (const int d : shape) known *= d < 0 ? 1 : d;
  for (int& d : shape)
    if (d == -1) d = int(n / std::max<int64_t>(known, 1));
}
}  // namespace

Tensor::Tensor(Shape shape, Device device) : storage_(std::make_shared<Storage>()), shape_(std::move(shape)) {
  check_sizes(shape_);
  storage_->device = device;
  storage_->own_value = Block(size(), device);
  storage_->value = storage_->own_value.get();
}

Tensor Tensor::full(Shape shape, real value, Device device) {
  Tensor x(std::move(shape), device);
  backend(device).fill(x.data(), value, x.size());
  return x;
}

Tensor Tensor::wrap(Shape shape, real* values, std::shared_ptr<const void> keep) {
  check_sizes(shape);
  Tensor x;
  x.shape_ = std::move(shape), x.storage_ = std::make_shared<Storage>();
  x.storage_->value = values, x.storage_->keep = std::move(keep);
  return x;
}

int Tensor::dim(int i) const {
  if (i < -dims() || i >= dims())
    bad_input("tensor: axis {} of shape {}; axes are {} .. {}", i, to_string(shape_), -dims(), dims() - 1);
  return shape_[size_t(i < 0 ? i + dims() : i)];
}

Tensor::Storage& Tensor::storage() const {
  if (!storage_) bad_input("tensor: an absent tensor has no values; pass one that was given a shape");
  return *storage_;
}
Device Tensor::device() const { return storage().device; }
real* Tensor::data() const { return storage_ ? storage_->value : nullptr; }

real Tensor::item() const {
  require_size(1);
  return values()[0];
}

void Tensor::require_size(int64_t n) const {
  if (size() != n) bad_input("tensor: shape {} holds {} values, not {}", to_string(shape_), size(), n);
}

bool Tensor::requires_grad() const { return storage_ && storage_->requires_grad; }
bool Tensor::has_grad() const { return storage_ && storage_->grad && !storage_->grad_empty; }

Tensor& Tensor::require_grad() {
  storage().requires_grad = true, storage_->made_in = 0;
  return *this;
}

Accumulator Tensor::grad_accumulator() const {
  if (!requires_grad()) return {};
  Storage& s = *storage_;
  if (!s.grad) s.own_grad = Block(size(), s.device), s.grad = s.own_grad.get();
  return {s.grad, std::exchange(s.grad_empty, false)};
}

Tensor Tensor::grad() const {
  if (!has_grad()) return full(shape_, 0, device());
  return from(shape_, view(storage_->grad).values()).to(device());
}

void Tensor::clear_grad() const { storage_->grad_empty = true; }

Tensor Tensor::reshape(Shape shape) const {
  infer_size(shape, size());
  if (size_of(shape) != size())
    bad_input("reshape: {} has {} values, {} would have {}; the sizes must multiply to {}, and one may be -1",
              to_string(shape_), size(), to_string(shape), size_of(shape), size());
  check_sizes(shape);                              // a shape with two negative sizes may have the right product
  Tensor x = *this;
  x.shape_ = std::move(shape);
  return x;
}

Tensor Tensor::detach() const { return view(storage().value); }

Tensor Tensor::first(int n) const {
  if (n < 1 || n > dim(0)) failure("first: n = {}; n must be from 1 to the size of axis 0 of {}", n, to_string(shape_));
  Tensor x = detach();
  x.shape_[0] = n;
  return x;
}

Tensor Tensor::view(real* at) const {
  Tensor x;
  x.shape_ = shape_;
  x.storage_ = std::make_shared<Storage>();
  x.storage_->value = at, x.storage_->device = device(), x.storage_->keep = storage_, storage_->viewed = true;
  return x;
}

Ids::Ids(Shape shape, std::vector<int> values)
    : shape_(std::move(shape)),
      values_(std::make_shared<std::vector<int>>(std::move(values))),
      elsewhere_(std::make_shared<Tensor>()) {
  if (size_of(shape_) != size())
    bad_input("ids: shape {} needs {} values, got {}", to_string(shape_), size_of(shape_), size());
}

}  // namespace poslab
