// Products of bf16 by tiles: instructions that multiply small matrices, AMX's tdpbf16ps (core/amx.cpp) and ARM's
// bfmmla (core/bfmmla.cpp). Each kernel is one template, over the instructions or over the same in plain C++, so that a
// processor without them can test its packing, its indices and its edges. core/cpu/product.h calls what is in use.
#pragma once
#include <cstddef>
#include <optional>

namespace poslab {

// sums = a b, a block of at most `rows` x `columns` sums. Factors are pairs of bf16 (core/cpu/packing.h), one in 32
// bits; `steps` is a multiple of `pairs`, filled up with zeros. The rest of a tile beyond row m and column n is read,
// whatever is there, and makes sums that nobody reads.
struct Tiles {
  const char* name;  // of the instruction
  int rows, columns, pairs;
  void (*use)(bool);  // on each thread, before blocks, and with false after them
  //                                             a: (m, steps)   b: (steps, n)   sums: (rows, columns)
  void (*block)(int m, int n, int steps, const float* a, ptrdiff_t a_row, const float* b, ptrdiff_t b_row, float* sums);
};
constexpr int most_sums = 32 * 64;  // of a block

// In use for --matmul bf16 and bf16x3; null where this processor has none, and on pages.
#ifdef __wasm__
inline const Tiles* tiles() { return nullptr; }
#else
const Tiles* tiles();
#endif

extern const Tiles emulated_amx, emulated_bfmmla;
// Those of this processor, if they do what the emulated ones do; asked once, and said on stderr if they do not.
const Tiles* amx();
const Tiles* bfmmla();

// While it lives, these are in use, or with null none; for tests and benches.
class UseTiles {
 public:
  explicit UseTiles(const Tiles*);
  ~UseTiles();
  UseTiles(const UseTiles&) = delete;

 private:
  std::optional<const Tiles*> before_;
};

// How far `now` is from `known` on one small product with edges: the largest difference as a share of the sizes of a
// sum's terms. The order of additions alone makes less than 1e-6.
double apart(const Tiles& now, const Tiles& known);
// `now`, if it is within that of `known`; else null, and a line on stderr.
const Tiles* checked(const Tiles& now, const Tiles& known);

}  // namespace poslab
