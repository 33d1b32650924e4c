// A matrix of weights as a file of others holds it: a row for each output of a linear layer, in 32 or 16 bits. The
// memory belongs to somebody else, mostly a file that is mapped, and is only read; nobody copies the whole matrix.
// Leaves out gradients, and devices other than the CPU.
#pragma once
#include <memory>

namespace poslab {

// bfloat16: the upper half of a float32.   float16: IEEE 754 binary16
enum class StoredAs { float32, bfloat16, float16 };
constexpr int bytes_of(StoredAs numbers) { return numbers == StoredAs::float32 ? 4 : 2; }

struct StoredMatrix {
  StoredAs as = StoredAs::float32;
  const void* at = nullptr;                      // (rows, columns), at a multiple of a number's size
  int rows = 0, columns = 0;
  std::shared_ptr<const void> keep{};            // whose memory it is
  explicit operator bool() const { return at != nullptr; }
};

}  // namespace poslab
