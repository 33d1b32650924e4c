// The values of a tensor as they are when all that was started so far is done, without waiting for it now: the way in which a
// training step on a GPU hands over its loss while the next steps are already queued.
#pragma once
#include <utility>
#include <vector>

#include "core/backend.h"
#include "core/tensor.h"

namespace poslab {

class Reading {
 public:
  Reading() = default;
  explicit Reading(const Tensor& x)
      : backend_(&backend(x.device())),
        size_(size_t(x.size())),
        ticket_(backend_->start_read(x.data(), size_ * sizeof(real))) {}
  Reading(Reading&& r) noexcept : backend_(std::exchange(r.backend_, nullptr)), size_(r.size_), ticket_(r.ticket_) {}
  Reading& operator=(Reading&& r) noexcept {
    return std::swap(backend_, r.backend_), std::swap(size_, r.size_), std::swap(ticket_, r.ticket_), *this;
  }
  ~Reading() {
    if (backend_) get();
  }
  std::vector<real> get() {         // once; waits
    std::vector<real> values(size_);
    std::exchange(backend_, nullptr)->take(ticket_, values.data());
    return values;
  }

 private:
  const Backend* backend_ = nullptr;
  size_t size_ = 0;
  int ticket_ = 0;
};

}  // namespace poslab
