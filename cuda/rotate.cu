// Rotates pairs of channels by the angles of their slot: (x, x') -> (x cos - x' sin, x sin + x' cos).
//
// A thread rotates one channel of one slot in many sequences, so that a table that they share is read only once.
#include "cuda/launch.h"

namespace poslab::cuda {
namespace {

// plane: elements of a sequence; table_step: from one sequence's table to the next, 0 if they share one
__global__ void rotate_pairs(Accumulator y, const real* x, const real* cosine, const real* sine, int batch,
                             int64_t table_step, int64_t plane, int channels, int head_dim, bool interleaved,
                             real sign) {
  const int half = head_dim / 2, gap = interleaved ? 1 : half;
  for (const int64_t e : all(plane)) {
    const int64_t time = e / channels;
    const int channel = int(e - time * channels) % head_dim;
    const bool second = interleaved ? channel % 2 : channel >= half;
    const int64_t partner = second ? e - gap : e + gap;
    const int64_t angle = time * half + (interleaved ? channel / 2 : channel % half);
    real c = cosine[angle], s = (second ? sign : -sign) * sine[angle];
    for (int b = int(blockIdx.y); b < batch; b += int(gridDim.y)) {
      if (table_step) c = cosine[b * table_step + angle], s = (second ? sign : -sign) * sine[b * table_step + angle];
      add_to(y, b * plane + e, x[b * plane + e] * c + x[b * plane + partner] * s);
    }
  }
}

}  // namespace

void rotate(Accumulator y, const real* x, const real* cosine, const real* sine, int batch, int table_batch,
            int time, int heads, int head_dim, bool interleaved, bool back) {
  if (!y) return;
  const int channels = heads * head_dim;
  const int64_t plane = int64_t(time) * channels, table_step = table_batch == 1 ? 0 : int64_t(time) * (head_dim / 2);
  const int blocks = blocks_for(plane), all = 8 * multiprocessors;
  const int wanted = blocks < all ? all / blocks : 1;
  launch(rotate_pairs, dim3(unsigned(blocks), unsigned(wanted < batch ? wanted : batch)), threads, y, x, cosine, sine,
         batch, table_step, plane, channels, head_dim, interleaved, real(back ? -1 : 1));
}

}  // namespace poslab::cuda
