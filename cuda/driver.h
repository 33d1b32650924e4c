// The CUDA runtime as the queue needs it, in a dozen functions: on the GPU (cuda/driver.cpp), or on the CPU where
// kernels are emulated (cuda/driver_emulated.cpp). Work is started on the stream of the calling thread's queue;
// waits, marks and recordings refer to that stream, too.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/fields.h"
#include "core/real.h"
#include "core/rounding.h"

namespace poslab::cuda {
constexpr int multiprocessors = 132;       // an H100's; work is divided by this number
}

namespace poslab::cuda::driver {

void start();                              // called before all others but name(); BadInput if there is no GPU or driver
double free_bytes();                       // bytes of the GPU's memory that no program uses
double peak_flops();                       // FLOP/s in single precision, at the highest clock
bool has_tensor_cores();                   // units that multiply TF32 and bfloat16: compute capability 8.0 or later
int shared_memory();                       // most bytes of shared memory that a block may have
std::string name();                        // "NVIDIA H100 80GB HBM3, compute capability 9.0"; uses no device memory
void* device_memory(size_t bytes);         // never freed; 256 bytes aligned. Null: out of memory
void* pinned_memory(size_t bytes);         // host memory that the GPU copies from and to by itself; never freed

void to_device(void* to, const void* pinned, size_t bytes);
void to_host(void* pinned, const void* from, size_t bytes);
void wait();                               // returns once everything that was started is done

// A mark in the stream: passed once everything that was started before it is done.
using Mark = std::shared_ptr<void>;
Mark mark();
void wait_for(const Mark&);

// Launches between begin_recording() and end_recording() are not run but kept; replay() runs them all.
using Recorded = std::shared_ptr<void>;
void begin_recording();
Recorded end_recording();
void abandon_recording();                  // after an error in between
void replay(const Recorded&);

// c = a b or c += a b, a batch of products, by cuBLAS (cuda/cublas.cpp). Lines of a and b lie along the sum, a: (m, k)
// and b: (n, k), or across it, a: (k, m) and b: (k, n), as in Factor (cuda/product.h); c: (m, n) without gaps.
struct Gemm {
  const real *a, *b;
  real* c;
  int m, n, k, a_line, b_line;
  bool a_along, b_along;
  int64_t a_step, b_step, c_step;          // numbers from one product of the batch to the next
  int batch;
  bool add;
  Rounding form;                             // fp32, tf32 or bf16
  FIELDS(Gemm, a, b, c, m, n, k, a_line, b_line, a_along, b_along, a_step, b_step, c_step, batch, add, form)
};
void multiply(const Gemm&);
std::string cublas();                      // "cuBLAS 13.1.0"; throws BadInput where it is not installed

}  // namespace poslab::cuda::driver
