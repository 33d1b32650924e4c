// The one queue of work of the GPU: what is started runs in the order in which it was started, while the host goes on. A
// training step is recorded once and then replayed with one call (core/backend.h); here is what launches need for that.
#pragma once
#include <cstddef>
#include <cstdint>
#include <functional>

#include "core/kernels.h"

#ifndef POSLAB_EMULATE
#include <cuda_runtime.h>
#endif

namespace poslab::cuda {

// What a step is launched with tells it from another step: every number, field by field, as padding holds anything.
void note_bytes(const void* at, size_t bytes);
template <class T>
void note(const T& value) {
  static_assert(std::is_scalar_v<T>, "give this struct a note() of its own, field by field");
  note_bytes(&value, sizeof value);
}
inline void note(const Accumulator& s) { note(s.at), note(s.empty); }
inline void note(const Stream& s) { note(s.seed), note(s.step), note(s.site); }
inline void note(const Dropout& d) { note(d.rate), note(d.stream); }
void note(const StridedLoop&);
void note(const Product&);
void note(const AttentionArgs&);
void note(const AttentionGrads&);

// While the host goes through a step that is recorded already, nothing is started.
bool muted();

// Values that change from step to step cannot be arguments of a launch that is replayed: they travel with the step's data.
// The address is the device's, and good for what is launched before the next step.
const void* upload_bytes(const void* values, size_t bytes);
template <class T>
const T* upload(const T& value) {
  return static_cast<const T*>(upload_bytes(&value, sizeof value));
}

// Working space of kernels on the device: at least n reals, valid until the next call with the same slot, 0 to 15.
real* scratch(int slot, int64_t n);

#ifdef POSLAB_EMULATE
void run_or_record(std::function<void()>);
#else
cudaStream_t stream();
void check(cudaError_t, const char* doing);      // throws Failure with CUDA's own words
#endif

}  // namespace poslab::cuda
