// The optimizer over the flat buffer of all parameters, and the sum of squares that clipping needs. The norm of the
// gradient stays on the device: the host never waits for it.
#include <algorithm>

#include "cuda/rows.cuh"

namespace poslab::cuda {
namespace {

constexpr int most_partial_sums = 264;   // blocks at most, the same on any machine, which fixes the order of the sum

__global__ void sum_squares(double* partial, const real* x, int64_t n) {
  double sum = 0;
  for (const int64_t i : all(n)) sum += double(x[i]) * double(x[i]);
  sum = team_sum<threads>(sum);
  if (threadIdx.x == 0) partial[blockIdx.x] = sum;
}
__global__ void add_up_squares(double* sum, const double* partial, int n) {
  double s = 0;
  for (int i = int(threadIdx.x); i < n; i += threads) s += partial[i];
  s = team_sum<threads>(s);
  if (threadIdx.x == 0) *sum = s;
}

// m = b1 m + (1-b1) g,  v = b2 v + (1-b2) g^2,  p = keep p - lr (m / c1) / (sqrt(v / c2) + epsilon),  g scaled down to
// the norm `clip`; does nothing if g has no finite norm, so that a diverged run keeps its weights.
__global__ void step_of_adam(real* p, real* m, real* v, const real* g, int64_t n, const double* squares,
                             const AdamStep* how) {
  const double norm = std::sqrt(*squares);
  if (!std::isfinite(norm)) return;
  const AdamStep s = *how;
  const real shrink = norm > double(s.clip) ? real(double(s.clip) / norm) : real(1);
  const real step = s.lr / s.correction1, scale = 1 / s.correction2;
  for (const int64_t e : all(n)) {
    const real gradient = g[e] * shrink, before = p[e];              // all reads come before the first write
    const real mean = s.beta1 * m[e] + (1 - s.beta1) * gradient;
    const real square = s.beta2 * v[e] + (1 - s.beta2) * gradient * gradient;
    m[e] = mean, v[e] = square;
    p[e] = s.keep * before - step * mean / (std::sqrt(square * scale) + s.epsilon);
  }
}

}  // namespace

void squares(double* sum, const real* x, int64_t n) {
  start_sums_in(x, x + n);
  double* partial = reinterpret_cast<double*>(scratch(0, most_partial_sums * int64_t(sizeof(double) / sizeof(real))));
  const int blocks = std::min(blocks_for(n), most_partial_sums);
  launch(sum_squares, blocks, threads, partial, x, n);
  launch(add_up_squares, 1, threads, sum, partial, blocks);
}

// Starts few blocks, because each thread computes the norm's root, in double, before it begins.
void adam(real* p, real* m, real* v, const real* g, int64_t n, const double* squares, AdamStep s) {
  start_sums_in(g, g + n);
  launch(step_of_adam, std::min(blocks_for(n), 1056), threads, p, m, v, g, n, squares, upload(s));
}

}  // namespace poslab::cuda
