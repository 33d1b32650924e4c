// A matrix of weights in the form of an external checkpoint: a row for each output of a linear layer, in 32 or 16 bits.
// Its memory, mostly a mapped file, is only read, and the whole matrix is never copied. Leaves out gradients, and
// devices other than the CPU.
#pragma once
#include <memory>

namespace poslab {

// bfloat16: the upper half of a float32.   float16: IEEE 754 binary16
enum class StoredAs { float32, bfloat16, float16 };
constexpr int bytes_of(StoredAs as) { return as == StoredAs::float32 ? 4 : 2; }   // of one number

struct StoredMatrix {
  StoredAs as = StoredAs::float32;
  const void* at = nullptr;                      // (rows, columns), aligned to a number's size
  int rows = 0, columns = 0;
  std::shared_ptr<const void> keep{};            // owns the memory
  explicit operator bool() const { return at != nullptr; }
};

}  // namespace poslab
