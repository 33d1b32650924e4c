// A device's services besides kernels (core/kernels.h): memory, copies to the device and back, and whole steps that are
// recorded once and then replayed. The CPU's services are in core/backend.cpp, the GPU's in cuda/queue.cpp.
#pragma once
#include <cstddef>
#include <functional>
#include <string>
#include <utility>

#include "core/engine.h"
#include "core/kernels.h"
#include "core/rounding.h"

namespace poslab {

struct Backend {
  std::string (*name)() = nullptr;                               // "NVIDIA H100 80GB HBM3, compute capability 9.0"
  double (*peak_flops)() = nullptr;                              // a multiply-add counts as 2 FLOPs; 0: unknown
  const Kernels& (*kernels)() = nullptr;
  void* (*allocate)(size_t bytes) = nullptr;                     // aligned to 256 bytes; throws Failure if none is left
  void (*write)(void* to, const void* from, size_t bytes) = nullptr;   // from the host
  void (*fill)(real* to, real value, int64_t n) = nullptr;
  // Copies bytes to the host once all earlier work is done. start_read() returns at once with a ticket;
  // read_result() waits. Each ticket is used once.
  int (*start_read)(const void* from, size_t bytes) = nullptr;
  void (*read_result)(int ticket, void* to) = nullptr;
  // Copies values to memory that lasts until the end of the running step, and returns their address. Returns null
  // outside step(); the caller then calls write() with memory of the pool.
  const void* (*upload)(const void* values, size_t bytes) = nullptr;
  void (*wait)() = nullptr;                                      // returns once all earlier work is done
  // Runs work() and records its kernel launches. As long as later calls make the same launches, these are replayed all
  // at once, and work() runs only for its uploads. So work() may be called twice, and must not read results.
  void (*step)(const std::function<void()>& work) = nullptr;
  // Sets how products of the calling thread's queue round, and on a GPU the engine that computes them;
  // `MatmulPrecision` below limits it to a scope. Throws BadInput if this device does not support them.
  void (*set_rounding)(Rounding, Engine) = nullptr;
  // Ends the calling thread's queue (core/platform/own_queue.h): waits, and drops its recorded steps. Does not throw.
  void (*leave_queue)() = nullptr;
  // Called with each buffer that a tensor gets, new or reused. Null: not called.
  void (*on_allocate)(real* at, size_t bytes) = nullptr;
  double (*free_bytes)() = nullptr;                              // free device memory; null on the CPU
};

const Backend& backend(Device);             // throws BadInput if this build or this machine has no such device
void add_backend(Device, const Backend&);   // called once by a program that links the backend; keeps a pointer to it

// Scope guard: while it lives, the calling thread's products on the device have the given rounding and engine; on a GPU
// every engine but cublas means our own kernels. The destructor restores the previous ones. Throws BadInput if the
// device does not support the given ones.
class MatmulPrecision {
 public:
  MatmulPrecision(Device, Rounding, Engine = engine());
  ~MatmulPrecision();
  MatmulPrecision(const MatmulPrecision&) = delete;
  MatmulPrecision& operator=(const MatmulPrecision&) = delete;

 private:
  UseEngine by_;
  Device device_;
  std::pair<Rounding, Engine> before_;
};

}  // namespace poslab
