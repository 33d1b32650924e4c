// Tensors and ids between host and devices.
#include "core/async_read.h"
#include "core/backend.h"
#include "core/stored_matrix.h"
#include "core/tensor.h"
#include "core/tensor_storage.h"

namespace poslab {

std::vector<real> Tensor::values() const { return AsyncRead(*this).result(); }

void Tensor::set(const real* values) const { backend(device()).write(data(), values, size_t(size()) * sizeof(real)); }

Tensor Tensor::to(Device there) const {
  if (!storage_ || there == device()) return *this;
  if (device() != Device::cpu) return from(shape_, values()).to(there);
  Tensor y;
  y.shape_ = shape_, y.storage_ = std::make_shared<Storage>(), y.storage_->device = there;
  const size_t bytes = size_t(size()) * sizeof(real);
  // Uploaded values are only read, so nothing is written through the pointer that the cast makes.
  y.storage_->value = static_cast<real*>(const_cast<void*>(backend(there).upload(data(), bytes)));
  if (!y.storage_->value) {
    y.storage_->own_value = Block(size(), there);
    y.storage_->value = y.storage_->own_value.get();
    y.set(data());
  }
  return y;
}

StoredMatrix StoredMatrix::to(Device there) const {
  if (!at || there == device) return *this;
  const size_t bytes = size_t(rows) * size_t(columns) * size_t(bytes_of(as));
  const auto block = std::make_shared<Block>(int64_t((bytes + sizeof(real) - 1) / sizeof(real)), there);
  backend(there).write(block->get(), at, bytes);
  return {as, block->get(), rows, columns, block, there};
}

// The copy lies in a Tensor with room for the ints, because the memory pool hands out only reals.
const int* Ids::on(Device there) const {
  if (!values_ || there == Device::cpu) return data();
  const size_t bytes = size_t(size()) * sizeof(int);
  if (const void* at = backend(there).upload(data(), bytes)) return static_cast<const int*>(at);
  if (!*elsewhere_) {
    *elsewhere_ = Tensor({int((bytes + sizeof(real) - 1) / sizeof(real))}, there);
    backend(there).write(elsewhere_->data(), data(), bytes);
  }
  return reinterpret_cast<const int*>(elsewhere_->data());
}

}  // namespace poslab
