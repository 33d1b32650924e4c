// The table of the CUDA kernels, under their names in core/kernels.def. If one is missing, the program does not link.
#include <atomic>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "core/error.h"
#include "core/kernels.h"
#include "cuda/backend.h"
#include "cuda/driver.h"

namespace poslab::cuda {

#define KERNEL(name, result, arguments, ...) result name arguments;
#include "core/kernels.def"
#undef KERNEL
void linear_stored(real*, const real*, StoredAs, const void*, const real*, int64_t, int, int);
void gather_stored(real*, StoredAs, const void*, const int*, int64_t, int);
bool encoder_block_fits(const BlockArgs&);
void encoder_block(real* y, const BlockKept&, const BlockArgs&);
void encoder_block_backward(const BlockGrads&, const real* dy, const BlockKept&, const BlockArgs&);
bool encoder_tail_fits(const BlockArgs&);
void encoder_tail(real* y, const real* mixed, const BlockKept&, const BlockArgs&);
void encoder_tail_backward(const BlockGrads&, const Accumulator& d_mixed, const real* dy, const real* mixed,
                           const BlockKept&, const BlockArgs&);

// One thread block for each sequence pays off only if there are about as many sequences as multiprocessors.
static std::atomic<int>& fewest_sequences() {
  static std::atomic<int> n = [] {
    const char* const text = std::getenv("POSLAB_BLOCK_KERNEL");
    if (!text) return multiprocessors / 2;
    int value = 0;
    const char* const end = text + std::strlen(text);
    if (const auto [at, error] = std::from_chars(text, end, value); error != std::errc() || at != end || value < 1)
      bad_input("POSLAB_BLOCK_KERNEL={}: give a whole number, 1 or more: the least number of sequences "
                "in a batch for which each encoder block is one kernel", text);
    return value;
  }();
  return n;
}
int block_kernel_from(int sequences) { return fewest_sequences().exchange(sequences); }

const Kernels& table() {
  static const Kernels t = [] {
    fewest_sequences();                                        // throws before a run begins, if the value is bad
    Kernels k;
    k.name = "cuda";
#define KERNEL(name, ...) k.name = cuda::name;
#include "core/kernels.def"
#undef KERNEL
    k.encoder_block_fits = [](const BlockArgs& x) {
      return x.attention.batch >= fewest_sequences() && cuda::encoder_block_fits(x);
    };
    k.encoder_tail_fits = [](const BlockArgs& x) {
      constexpr int least_rows = 16;                           // of a thread block
      return x.attention.queries >= int64_t(least_rows) * fewest_sequences() && cuda::encoder_tail_fits(x);
    };
    k.linear_stored = cuda::linear_stored, k.gather_stored = cuda::gather_stored;
    k.encoder_tail = cuda::encoder_tail, k.encoder_tail_backward = cuda::encoder_tail_backward;
    k.encoder_block = cuda::encoder_block, k.encoder_block_backward = cuda::encoder_block_backward;
    return k;
  }();
  return t;
}

}  // namespace poslab::cuda
