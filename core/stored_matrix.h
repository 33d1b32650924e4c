// A matrix of weights as an external checkpoint stores it: a row for each output of a linear layer, in 32 or 16 bits.
// Its memory, usually a mapped file, is only read; on a CPU the whole matrix is never copied. It has no gradient.
#pragma once
#include <cstdint>
#include <memory>

#include "core/device.h"

namespace poslab {

// bfloat16: the upper half of a float32.   float16: IEEE 754 binary16
enum class StoredAs { float32, bfloat16, float16 };
constexpr int bytes_of(StoredAs as) { return as == StoredAs::float32 ? 4 : 2; }   // of one number

struct StoredMatrix {
  StoredAs as = StoredAs::float32;
  const void* at = nullptr;                      // (rows, columns), aligned to a number's size
  int rows = 0, columns = 0;
  std::shared_ptr<const void> keep{};            // owns the memory
  Device device = Device::cpu;                   // where it is
  explicit operator bool() const { return at != nullptr; }
  // This matrix if it is on that device, else a copy in the same form.
  StoredMatrix to(Device) const;
};

// A number in each 16-bit format, and its value.
struct Bfloat16 { uint16_t bits; };
struct Float16 { uint16_t bits; };

constexpr float number_of(float x) { return x; }
constexpr float number_of(Bfloat16 x) { return __builtin_bit_cast(float, uint32_t(x.bits) << 16); }
// The exponent's bias grows from 15 to 127. A subnormal x becomes (2^-14 + x) - 2^-14, so that no intermediate float is
// subnormal, which would be slow.
constexpr float number_of(Float16 x) {
  constexpr uint32_t least = 113u << 23, step = 112u << 23;  // 2^-14, and the difference between the biases
  const uint32_t size = uint32_t(x.bits & 0x7FFFu) << 13, sign = uint32_t(x.bits & 0x8000u) << 16;
  const float subnormal = __builtin_bit_cast(float, size + least) - __builtin_bit_cast(float, least);
  const uint32_t infinite = size >= (0x7C00u << 13) ? step : 0;  // and NaN
  const uint32_t bits = size < (0x0400u << 13) ? __builtin_bit_cast(uint32_t, subnormal) : size + step + infinite;
  return __builtin_bit_cast(float, bits | sign);
}

// Calls work(a pointer to the weights in their stored type).
template <class Work>
void with_numbers(StoredAs as, const void* at, const Work& work) {
  if (as == StoredAs::float32)
    work(static_cast<const float*>(at));
  else if (as == StoredAs::bfloat16)
    work(static_cast<const Bfloat16*>(at));
  else
    work(static_cast<const Float16*>(at));
}

}  // namespace poslab
