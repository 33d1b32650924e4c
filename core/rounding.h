// How products of matrices round in linear layers, matmul and feed-forward networks, forward and backward. In attention
// a CPU rounds only heads of 8 channels, to bf16 (core/cpu/attention/narrow_pairs.h), a GPU only heads of 9 to 128.
// Everything else is in fp32: other kernels, the optimizer, and few rows times stored weights (linear_stored).
#pragma once

namespace poslab {

// Inputs, sums and results are fp32; only the two factors of each product are rounded (docs/gpu.md has the errors). A
// GPU then multiplies on its tensor cores. For bf16 a CPU uses the instruction of AVX512-BF16 (core/cpu/bf16/pairs.h),
// or FMAs that give the same bits. For tf32 and tf32x3 it rounds in software: slower, but it shows on any machine how
// many bits products need. Only products of our own kernels are rounded (core/engine.h).
//   fp32     not at all
//   tf32x3   each factor split into two numbers of 11 bits, and three of their four products: nearly as exact as fp32
//   tf32     to 11 bits, ties away from zero       bf16     to 8 bits, ties to even; on a CPU subnormal numbers to 0
enum class Rounding { fp32, tf32x3, tf32, bf16 };
inline constexpr const char* rounding_names[] = {"fp32", "tf32x3", "tf32", "bf16"};   // in the order of Rounding

// How the calling thread's products on the CPU round; set by backend(Device::cpu).set_rounding().
Rounding cpu_rounding();

}  // namespace poslab
