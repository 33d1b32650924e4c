// What a device offers besides kernels (core/kernels.h): memory, the way there and back, and whole steps that are
// recorded once and then replayed. The CPU's stands in core/backend.cpp, the GPU's in cuda/queue.cpp.
#pragma once
#include <cstddef>
#include <functional>
#include <string>

#include "core/kernels.h"

namespace poslab {

// How a GPU multiplies matrices. Numbers go in and come out as fp32, and are added up in fp32; what is rounded are the
// two factors of each product (docs/gpu.md has how far that is off):
//   fp32     not at all, on the plain units
//   tf32x3   each split into two numbers of 11 bits: three products on tensor cores, nearly as exact as fp32
//   tf32     to 11 bits, on tensor cores       bf16     to 8 bits, likewise
enum class Matmul { fp32, tf32x3, tf32, bf16 };
inline constexpr const char* matmul_names[] = {"fp32", "tf32x3", "tf32", "bf16"};   // in its order

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
  // From now on, in the calling thread's queue. Throws BadInput if this device cannot: a CPU has fp32 alone.
  void (*multiply_in)(Matmul);
  // The end of the calling thread's queue (core/own_queue.h): waits, and forgets its recorded steps. Throws nothing.
  void (*leave_queue)();
};

const Backend& backend(Device);             // throws BadInput if this build or this machine does not have it
void add_backend(Device, const Backend&);   // by a main program that was linked with it

}  // namespace poslab
