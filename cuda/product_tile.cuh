// The work of a block of cuda/product.cu on a tile: how numbers come into shared memory, and how threads share the
// multiplications, on CUDA cores (Patch) or on tensor cores (Fragments). docs/gpu.md draws it.
#pragma once
#include "core/backend.h"
#include "cuda/product.h"
#include "cuda/tensor_cores.cuh"
#include "cuda/vectors.cuh"

namespace poslab::cuda {

constexpr unsigned depth = 32, tile_columns = 64;              // indices of the sum in a step; columns of a tile

// Where four s of index p lies in shared memory; a tile is (depth, fours). Bank conflicts arise neither when lanes
// transpose lines along the sum nor when they read.
__device__ inline unsigned place(unsigned p, unsigned s, unsigned fours) {
  return p * fours + (s ^ (p / 4) ^ (p % 4 * 2));
}

// The 4 x 4 numbers that one thread brings to a tile in each step, four lines of four: four s of indices 4q .. 4q + 3.
// While the block works on one step, the numbers of the next are on their way.
struct Fetch {
  const real* from;
  int line, lines, left;           // `lines` lines and `left` numbers of each exist from here on
  unsigned fours, s, q;
  bool is_along, whole, idle;
  Four x[4];

  // NOLINTNEXTLINE(*-member-init): load_lines() fills x
  __device__ Fetch(const Factor& f, int part, int start, int width, int k, unsigned fours_, unsigned worker)
      : line(f.line), fours(fours_), is_along(f.is_along), whole(f.whole()), idle(worker >= fours_ * (depth / 4)) {
    s = is_along ? worker / (depth / 4) : worker % fours;
    q = is_along ? worker % (depth / 4) : worker / fours;
    const int across = start + 4 * int(s), sum = 4 * int(q);
    from = f.at + part * f.step + (is_along ? int64_t(across) * line + sum : int64_t(sum) * line + across);
    lines = idle ? 0 : is_along ? width - across : k - sum;
    left = is_along ? k - sum : width - across;
    load_lines();
  }
  __device__ void load_lines() {
    for (int r = 0; r < 4; ++r) x[r] = four(from + int64_t(r) * line, 0, r < lines ? left : 0, whole);
  }
  __device__ void next() {
    if (is_along) from += depth, left -= int(depth);
    else from += int64_t(depth) * line, lines -= int(depth);
    load_lines();
  }
  template <class Shared>
  __device__ void put(Shared& tile, unsigned base) const {
    if (idle) return;
    for (unsigned p = 0; p < 4; ++p) {
      const Four transposed{{x[0].c[p], x[1].c[p], x[2].c[p], x[3].c[p]}};
      tile[base + place(4 * q + p, s, fours)] = is_along ? transposed : x[p];
    }
  }
};

// A thread has 8 rows by 4 columns in registers, a warp 4 x 8 such patches. Neighbours share the four of a, and lanes
// at distance 2 share that of b, so that shared memory serves 16 lanes at once. To fill the block, two or four teams of
// threads divide the indices of a step among them.
template <unsigned rows>
struct Patch {
  static constexpr unsigned teams = 128 / rows, team_threads = threads / teams, a_fours = rows / 4, fours = 8;
  unsigned team, in_team, eight, four;
  Four sum[fours] = {};

  __device__ explicit Patch(unsigned t) : team(t / team_threads), in_team(t % team_threads) {
    const unsigned w = in_team / warp, lane = t % warp;
    eight = w / 2 * 4 + lane / 2 % 2 + lane / 16 * 2, four = w % 2 * 8 + lane % 2 + lane / 4 % 4 * 2;
  }
  template <class Shared>
  __device__ void step(Shared& tile) {
    constexpr unsigned share = depth / 4 / teams, b_tile = depth * a_fours;     // a team's part, in fours of indices
    for (unsigned q = team * share; q < team * share + share; ++q)
      for (unsigned p = 4 * q; p < 4 * q + 4; ++p) {
        const Four low = tile[place(p, 2 * eight, a_fours)], high = tile[place(p, 2 * eight + 1, a_fours)];
        const Four b = tile[b_tile + place(p, four, tile_columns / 4)];
        for (int r = 0; r < 4; ++r) add_scaled(sum[r], low.c[r], b), add_scaled(sum[4 + r], high.c[r], b);
      }
  }
  __device__ Four get(unsigned q) const { return sum[q]; }
  __device__ void set(unsigned q, const Four& x) { sum[q] = x; }
  __device__ unsigned row(unsigned q) const { return 8 * eight + q; }
  __device__ unsigned column(unsigned) const { return 4 * four; }
};

// -- tensor cores ----------------------------------------------------------------------------------------------------

// Each of four teams of two warps takes 8 indices of a step, each warp all rows and 32 columns. Rows and columns are
// split among the tensor core's tiles so that a Four of shared memory serves four of them: of 32 rows, row 4g + 2w + e
// is row g + 8e of tile w, and of 32 columns, column 4g + v is column g of tile v.
template <unsigned rows, Rounding how>
struct Fragments {
  static constexpr unsigned teams = 4, team_threads = threads / teams, a_fours = rows / 4, fours = rows / 4;
  unsigned team, in_team, g, t, half;
  float c[rows / 32][2][4][4] = {};                            // sums of 32 rows, tile w, tile v, as in multiply_add

  __device__ explicit Fragments(unsigned thread)
      : team(thread / team_threads), in_team(thread % team_threads), g(thread % warp / 4), t(thread % 4),
        half(in_team / warp) {}
  template <class Shared>
  __device__ void step(Shared& tile) {
    constexpr unsigned b_tile = depth * a_fours;
    const unsigned p = 8 * team + t;
    const Four b0 = tile[b_tile + place(p, 8 * half + g, tile_columns / 4)];
    const Four b1 = tile[b_tile + place(p + 4, 8 * half + g, tile_columns / 4)];
    for (unsigned h = 0; h < rows / 32; ++h) {
      const Four a0 = tile[place(p, 8 * h + g, a_fours)], a1 = tile[place(p + 4, 8 * h + g, a_fours)];
      for (int w = 0; w < 2; ++w) {
        const float a[4] = {float(a0.c[2 * w]), float(a0.c[2 * w + 1]), float(a1.c[2 * w]), float(a1.c[2 * w + 1])};
        for (int v = 0; v < 4; ++v) add_rounded<how>(c[h][w][v], a, {float(b0.c[v]), float(b1.c[v])});
      }
    }
  }
  // Four q = 8h + 4w + 2e + d is four tiles' column 2t + d of row g + 8e.
  __device__ Four get(unsigned q) const {
    const float(&x)[4][4] = c[q / 8][q / 4 % 2];
    return {{real(x[0][q % 4]), real(x[1][q % 4]), real(x[2][q % 4]), real(x[3][q % 4])}};
  }
  __device__ void set(unsigned q, const Four& y) {
    for (int v = 0; v < 4; ++v) c[q / 8][q / 4 % 2][v][q % 4] = float(y.c[v]);
  }
  __device__ unsigned row(unsigned q) const { return 4 * (q / 8 * 8 + g) + q / 2 % 4; }
  __device__ unsigned column(unsigned q) const { return 4 * (8 * half + 2 * t + q % 2); }
};

}  // namespace poslab::cuda
