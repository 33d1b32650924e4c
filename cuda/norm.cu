// LayerNorm and RMSNorm of rows, of x or of s = x + dropout(z). With h = (s - mean) / std, without a mean in RMSNorm,
// and g = dy gain:
//   y = gain h + bias     d = ds + (g - mean(g) - h mean(g h)) / std     dgain = sum dy h     dbias = sum dy
// A block sums dgain and dbias of its rows, and cuda/sums.h adds up the blocks. Where z is a product still to be
// made, its tiles of whole rows go on to LayerNorm (cuda/product.cu). Read cuda/naive/norm.cu first.
#include "cuda/dropout.cuh"
#include "cuda/norm_row.cuh"
#include "cuda/product.h"
#include "cuda/sums.h"

namespace poslab::cuda {
namespace {

constexpr int max_partial_sums = 3 * multiprocessors;     // number of blocks, backward: 3 for each multiprocessor

// y = norm(s), s = x + dropout(z); without z, s is x and not written.
template <NormKind kind, int team>
__global__ void norm_rows(real* y, real* s, const real* x, const real* z, const real* gain, const real* bias,
                          int64_t rows, int n, real epsilon, DropoutArgs drop) {
  for (Row<team> row(rows, n); row.any(); row.next()) {
    real v[per_thread], sum = 0;
    for (int p = 0; p < row.end(); p += row.panel) {
      row.read(v, x, p, 0);
      if (z) {
        real more[per_thread];
        row.read(more, z, p, 0);
        const Factors<row.lanes> kept(drop, row.start() + p + row.first - row.lane);
        for (int k = 0; k < per_thread; ++k) v[k] += more[k] * kept.of(k);
        row.write(s, v, p);
      }
      for (int k = 0; k < per_thread; ++k) sum += term<kind>(v[k]);
    }
    write_normed<kind>(row, y, v, sum, z ? s : x, gain, bias, epsilon);
  }
}

// dx += d, dz += dropout(d), and `partial` (blocks, sums, n) of dgain and, in LayerNorm, dbias, if it is wanted. In
// RMSNorm ds or dy may be null; LayerNorm has only dy. The sums of rows of one panel are kept in registers, and the
// teams of the block meet in shared memory; longer rows belong to a whole block, whose threads keep the sums of their
// columns in `partial` itself.
template <NormKind kind>
constexpr int sums_of = kind == NormKind::layer ? 2 : 1;
template <NormKind kind, int team>
__global__ __launch_bounds__(threads, kind == NormKind::layer ? 3 : 2)     // blocks on an SM: registers allow no more
void norm_rows_backward(Accumulator dx, Accumulator dz, real* partial, const real* ds, const real* dy, const real* x,
                        const real* gain, int64_t rows, int n, real epsilon, DropoutArgs drop) {
  constexpr bool layer = kind == NormKind::layer;
  const bool of_y = layer || dy, of_s = !layer && ds;
  SHARED(real, sums, (8 * sums_of<kind> + 1) * threads);
  Row<team> row(rows, n);
  const bool again = row.again();
  real gain_sum[per_thread] = {}, bias_sum[per_thread] = {};
  real* const partial_of_block = partial ? partial + int64_t(blockIdx.x) * sums_of<kind> * n : nullptr;
  bool started = false;                      // whether partial_of_block has been written to
  for (; row.any(); row.next(), started = true) {
    real v[per_thread] = {}, d[per_thread] = {}, factor[per_thread] = {}, sum = 0;
    for (int p = 0; of_y && p < row.end(); p += row.panel) {
      row.read(v, x, p, 0);
      if (!again) row.read(d, dy, p, 0), row.read_columns(factor, gain, p, 0);
      for (int k = 0; k < per_thread; ++k) sum += term<kind>(v[k]);
    }
    const auto [mean, inverse] = of_y ? moments<kind>(row, v, sum, x, epsilon) : Moments{};

    real g_sum = 0, gh_sum = 0;
    for (int p = 0; of_y && p < row.end(); p += row.panel) {
      if (again) row.read(v, x, p, 0), row.read(d, dy, p, 0), row.read_columns(factor, gain, p, 0);
      for (int k = 0; k < per_thread; ++k) {
        const int j = row.column(p, k);
        const real h = (v[k] - mean) * inverse, g = d[k] * factor[k];     // beyond the row d = 0
        gh_sum += g * h, gain_sum[k] += d[k] * h;
        if (layer) g_sum += g, bias_sum[k] += d[k];
        if (again && partial_of_block && j < row.n) {
          partial_of_block[j] = d[k] * h + (started ? partial_of_block[j] : real(0));
          if (layer) partial_of_block[n + j] = d[k] + (started ? partial_of_block[n + j] : real(0));
        }
        v[k] = h, d[k] = g;
      }
    }
    const real g_mean = layer ? team_sum<team>(g_sum) / real(n) : real(0);
    const real gh_mean = of_y ? team_sum<team>(gh_sum) / real(n) : real(0);

    for (int p = 0; p < row.end() && (dx.at || dz.at); p += row.panel) {
      if (again && of_y) row.read(v, x, p, 0), row.read(d, dy, p, 0), row.read_columns(factor, gain, p, 0);
      for (int k = 0; k < per_thread; ++k) {
        if (again) v[k] = (v[k] - mean) * inverse, d[k] *= factor[k];
        v[k] = (d[k] - g_mean - v[k] * gh_mean) * inverse;
      }
      if (of_s) {
        real more[per_thread];
        row.read(more, ds, p, 0);
        for (int k = 0; k < per_thread; ++k) v[k] += more[k];
      }
      if (dx.at) row.add(dx, v, p);
      if (!dz.at) continue;
      const Factors<row.lanes> kept(drop, row.start() + p + row.first - row.lane);
      for (int k = 0; k < per_thread; ++k) v[k] *= kept.of(k);
      row.add(dz, v, p);
    }
  }

  if (!partial_of_block || again) return;
  constexpr int panel = row.panel, pitch = sums_of<kind> * panel + team;     // avoids bank conflicts of a warp's teams
  const int place = int(threadIdx.x) / team * pitch;
  for (int k = 0; k < per_thread; ++k) sums[place + row.column(0, k)] = gain_sum[k];
  for (int k = 0; layer && k < per_thread; ++k) sums[place + row.column(panel, k)] = bias_sum[k];
  __syncthreads();
  for (int c = int(threadIdx.x); c < sums_of<kind> * panel; c += threads) {
    if (c % panel >= n) continue;
    real total = sums[c];
    for (int t = 1; t < row.together; ++t) total += sums[t * pitch + c];
    partial_of_block[c / panel * n + c % panel] = total;
  }
}

template <NormKind kind>
void norm_of(real* y, real* s, const real* x, const real* z, const real* gain, const real* bias, const NormForm& form,
             const DropoutArgs& drop) {
  launch(for_team(form.n, norm_rows<kind, 8>, norm_rows<kind, warp>, norm_rows<kind, threads>),
         row_blocks(form.rows, form.n), threads, y, s, x, z, gain, bias, form.rows, form.n, form.epsilon, drop);
}

template <NormKind kind>
void norm_backward_of(const Accumulator& dx, const Accumulator& dz, const Accumulator& dgain, const Accumulator& dbias,
                      const real* ds, const real* dy, const real* s, const real* gain, const NormForm& form) {
  const int n = form.n, pitch = sums_of<kind> * n, all = row_blocks(form.rows, n);
  const int blocks = all < max_partial_sums ? all : max_partial_sums;
  real* partial = dgain || dbias ? room_for_sums(int64_t(blocks) * pitch) : nullptr;
  launch(for_team(n, norm_rows_backward<kind, 8>, norm_rows_backward<kind, warp>, norm_rows_backward<kind, threads>),
         blocks, threads, dx, dz, partial, ds, dy, s, gain, form.rows, n, form.epsilon,
         dz ? dropout_args(form.dropout) : DropoutArgs{});
  if (dgain) add_up_later({dgain, partial, n, pitch, blocks});
  if (dbias) add_up_later({dbias, partial + n, n, pitch, blocks});
}

}  // namespace

void norm(real* y, real* s, const real* x, const real* z, const real* gain, const real* bias, const NormForm& form) {
  const DropoutArgs drop = z ? dropout_args(form.dropout) : DropoutArgs{};
  if (form.kind == NormKind::rms) return norm_of<NormKind::rms>(y, s, x, z, gain, bias, form, drop);
  if (z && norm_with_product(z, form.rows, form.n, {y, s, x, gain, bias, form.epsilon, drop})) return;
  norm_of<NormKind::layer>(y, s, x, z, gain, bias, form, drop);
}

void norm_backward(Accumulator dx, Accumulator dz, Accumulator dgain, Accumulator dbias, const real* ds,
                   const real* dy, const real* s, const real* gain, const NormForm& form) {
  if (!dx && !dz && !dgain && !dbias) return;
  const auto run = form.kind == NormKind::rms ? norm_backward_of<NormKind::rms> : norm_backward_of<NormKind::layer>;
  run(dx, dz, dgain, dbias, ds, dy, s, gain, form);
}

}  // namespace poslab::cuda
