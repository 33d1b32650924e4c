// What a device offers besides kernels (core/kernels.h): memory, the way there and back, and whole steps that are
// recorded once and then replayed. The CPU's stands in core/backend.cpp, the GPU's in cuda/queue.cpp.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "core/engine.h"
#include "core/kernels.h"
#include "core/rounding.h"

namespace poslab {

struct Backend {
  std::string (*name)();                                         // "NVIDIA H100 80GB HBM3, compute capability 9.0"
  double (*peak_flops)();                                        // multiply-adds count 2; 0 if it is not known
  const Kernels& (*kernels)();
  void* (*allocate)(size_t bytes);                               // aligned to 256 bytes; throws Failure if none is left
  void (*write)(void* to, const void* from, size_t bytes);       // from the host
  void (*fill)(real* to, real value, int64_t n);
  // Gets the bytes once all that was started before is done. read_result() waits for that, start_read() does not; each
  // ticket is used once.
  int (*start_read)(const void* from, size_t bytes);
  void (*read_result)(int ticket, void* to);
  // Values that only this step reads, in the step's own memory. Null outside step(): write() them into the pool's
  // memory.
  const void* (*upload)(const void* values, size_t bytes);
  void (*wait)();                                                // until all that was started is done
  // Runs work(), whose launches are recorded the first time and later replayed with one call, as long as they are the
  // same: then work() runs for its uploads alone and its kernels are not started one by one. So work() may be called
  // twice, and may read nothing back.
  void (*step)(const std::function<void()>& work);
  // From now on, in the calling thread's queue; `MatmulPrecision` below sets an end. Throws BadInput if this device
  // cannot.
  void (*multiply_in)(Matmul);
  // The end of the calling thread's queue (core/own_queue.h): waits, and forgets its recorded steps. Throws nothing.
  void (*leave_queue)();
  // Told of all memory that a tensor is given, new or used before. Null: it does not care.
  void (*handed_out)(real* at, size_t bytes) = nullptr;
};

const Backend& backend(Device);             // throws BadInput if this build or this machine does not have it
void add_backend(Device, const Backend&);   // by a main program that was linked with it

// As long as it lives, the calling thread's products on the device are in this form, and afterwards in the one before:
// in fp32, unless it stood inside another. So what else a process computes rounds nothing. On a CPU they are by this
// engine. Throws BadInput if the device cannot.
class MatmulPrecision {
 public:
  MatmulPrecision(Device, Matmul, Engine = engine());
  ~MatmulPrecision();
  MatmulPrecision(const MatmulPrecision&) = delete;
  MatmulPrecision& operator=(const MatmulPrecision&) = delete;

 private:
  UseEngine by_;
  Device device_;
  Matmul before_;
};

}  // namespace poslab
