// Reads a tensor's values in two steps: the constructor queues the copy after all work started so far, and result()
// waits for it. So the loss of a training step on a GPU is read while later steps are already queued.
#pragma once
#include <exception>
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/tensor.h"

namespace poslab {

class AsyncRead {
 public:
  AsyncRead() = default;
  explicit AsyncRead(const Tensor& x)
      : backend_(&backend(x.device())),
        size_(size_t(x.size())),
        ticket_(backend_->start_read(x.data(), size_ * sizeof(real))) {}
  AsyncRead(AsyncRead&& r) noexcept
      : backend_(std::exchange(r.backend_, nullptr)), size_(r.size_), ticket_(r.ticket_) {}
  AsyncRead& operator=(AsyncRead&& r) noexcept {
    return std::swap(backend_, r.backend_), std::swap(size_, r.size_), std::swap(ticket_, r.ticket_), *this;
  }
  ~AsyncRead() { discard(); }
  std::vector<real> result() {        // may be called only once; waits
    std::vector<real> values(size_);
    std::exchange(backend_, nullptr)->read_result(ticket_, values.data());
    return values;
  }

 private:
  void discard() noexcept {
    try {
      if (backend_) result();
    } catch (const std::exception&) {  // The device reports its error in the next call as well.
    }
  }

  const Backend* backend_ = nullptr;
  size_t size_ = 0;
  int ticket_ = 0;
};

}  // namespace poslab
