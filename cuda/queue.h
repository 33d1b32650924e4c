// The queue of work of the GPU that the calling thread uses (core/platform/own_queue.h): work runs in the order
// in which it was started, while the host goes on. A training step is recorded once and then replayed with one call
// (core/backend.h); this file has the part that launches need.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>

#include "core/backend.h"
#include "core/platform/own_queue.h"

#ifndef POSLAB_EMULATE
#include <cuda_runtime.h>
#endif

namespace poslab::cuda {

// Each queue has a State, and a thread gets its own queue's State. So threads with different queues share nothing and
// need no locks.
template <class State>
State& of_this_queue() {
  static auto* const all = new std::array<State, max_queues>;      // outlives every static Tensor
  return (*all)[size_t(queue_number())];
}

// The record key of the current step (cuda/record_key.h), to which each launch adds itself; null outside steps.
std::string* step_key();

// Whether the host goes through a step only for its record key and its uploads. Then nothing is started.
bool dry_run();

// Values that change from step to step cannot be arguments of a launch that is replayed: they travel with the step's
// data. Returns an address on the device, valid for launches before the next step.
const void* upload_bytes(const void* values, size_t bytes);
template <class T>
const T* upload(const T& value) {
  return static_cast<const T*>(upload_bytes(&value, sizeof value));
}

// Work held back: products (cuda/product.h) and sums over many rows (cuda/sums.h). A launch first starts the held work
// that it may depend on. start_sums() starts everything; so does start_sums_in() if a sum goes to its memory.
void start_products();
void start_sums();
void start_sums_in(const void* begin, const void* end);
struct Extent { const void *begin = nullptr, *end = nullptr; };
Extent where_sums_go();                    // the memory that has the results of all held-back sums
void drop_products();                      // after an error
void drop_sums();
void use_matmul(Rounding, bool by_library);  // for products from here on; the library is cuBLAS

// Working space of kernels on the device: at least n reals, valid until the next call with the same buffer, 0 to 15.
real* scratch(int buffer, int64_t n);

// n reals of the device that are never given back; throws Failure if there are none left.
real* memory_for_good(int64_t n);

#ifdef POSLAB_EMULATE
void run_or_record(std::function<void()>);
void check_device_memory(const void* at);      // throws Failure for a pointer to other memory, except null
bool memory_is_poisoned();                       // cuda/backend.h
constexpr size_t device_bytes = size_t(1) << 36; // size and start of the emulated GPU's memory
char* device_begin();
#else
cudaStream_t stream();
void check(cudaError_t, const char* doing);      // throws Failure with CUDA's message
#endif

}  // namespace poslab::cuda
