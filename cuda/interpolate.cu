// Linear interpolation in the rows of a table, a thread for each place. Backward, a thread for each entry looks through
// the places of its row, so that the order of the sum is fixed.
#include "cuda/launch.h"

namespace poslab::cuda {
namespace {

// Place p in a row of last + 1 entries: the two entries around it, and the weight of the upper one.
struct Place {
  int below, above;
  real share;
  bool slopes;                                           // else y is constant around p
  __device__ Place(real p, int last) {
    const real least = 0, most = real(last), in = p > least ? (p < most ? p : most) : least;   // NaN gives 0
    below = int(in), below -= below == last && last > 0, above = below + (last > 0);
    share = (p != p ? p : in) - real(below);
    slopes = !(p < least) && !(p > most);
  }
};

__global__ void places(real* y, const real* t, const real* p, int64_t count, int entries, int n) {
  for (const int64_t e : all(count)) {
    const real* row = t + e / n * entries;
    const Place at(p[e], entries - 1);
    y[e] = (1 - at.share) * row[at.below] + at.share * row[at.above];
  }
}

__global__ void slopes_of_places(Accumulator dp, const real* dy, const real* t, const real* p, int64_t count,
                                 int entries, int n) {
  for (const int64_t e : all(count)) {
    const real* row = t + e / n * entries;
    const Place at(p[e], entries - 1);
    add_to(dp, e, at.slopes ? (row[at.above] - row[at.below]) * dy[e] : real(0));
  }
}

__global__ void sums_of_entries(Accumulator dt, const real* dy, const real* p, int64_t count, int entries, int n) {
  for (const int64_t e : all(count)) {
    const int64_t first = e / entries * n;
    const int entry = int(e % entries);
    real sum = 0;
    for (int j = 0; j < n; ++j) {
      const Place at(p[first + j], entries - 1);
      const real upper = at.share * dy[first + j];
      if (at.below == entry) sum += dy[first + j] - upper;
      if (at.above == entry) sum += upper;
    }
    add_to(dt, e, sum);
  }
}

}  // namespace

void interpolate(real* y, const real* t, const real* p, int64_t rows, int entries, int n) {
  launch(places, blocks_for(rows * n), threads, y, t, p, rows * n, entries, n);
}

void interpolate_backward(Accumulator dt, Accumulator dp, const real* dy, const real* t, const real* p, int64_t rows,
                          int entries, int n) {
  if (dp) launch(slopes_of_places, blocks_for(rows * n), threads, dp, dy, t, p, rows * n, entries, n);
  if (dt) launch(sums_of_entries, blocks_for(rows * entries), threads, dt, dy, p, rows * entries, entries, n);
}

}  // namespace poslab::cuda
