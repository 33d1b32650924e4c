// c = finish(a b): the one product that matmul, linear layers and feed-forward networks are made of.
//
// A block of 256 threads makes a tile of c, 32 or 64 rows by 64 columns. In each step 32 places of the sum go through
// shared memory; a thread holds 8 x 4 results in registers, and to fill the block two or four teams of threads divide
// the places of a step among them and add up at the end. One launch works off up to three jobs: products that do not
// wait for each other share the GPU.
#pragma once
#include "cuda/launch.h"

namespace poslab::cuda {

// Quad numbers that travel together: 16 bytes are the widest load. `left` of them exist; where `whole`, that is all or
// none, and they are aligned.
struct alignas(16) Quad { real at[4]; };

__device__ inline Quad load(const real* from, int left, bool whole) {
  Quad x{};
  if (whole) {
    if (left > 0) x = *reinterpret_cast<const Quad*>(from);
  } else {
    for (int e = 0; e < 4; ++e)
      if (e < left) x.at[e] = from[e];
  }
  return x;
}
__device__ inline void store(real* to, const Quad& x, int left, bool whole) {
  if (whole) {
    if (left > 0) *reinterpret_cast<Quad*>(to) = x;
  } else {
    for (int e = 0; e < 4; ++e)
      if (e < left) to[e] = x.at[e];
  }
}
__device__ inline void add(Quad& sum, const Quad& x) {
  for (int e = 0; e < 4; ++e) sum.at[e] += x.at[e];
}
__device__ inline void add(Quad& sum, real factor, const Quad& x) {
  for (int e = 0; e < 4; ++e) sum.at[e] += factor * x.at[e];
}

// A matrix is lines of `line` numbers. They lie along the sum, as those of a: (m, k) and of a transposed b: (n, k), or
// across it, as those of a transposed a: (k, m) and of b: (k, n).
struct Factor {
  const real* at = nullptr;
  int line = 0;
  bool is_along = false;
  int64_t step = 0;                // from one part of the job to the next
  FIELDS(Factor, at, line, is_along, step)
  __device__ bool whole() const { return aligned(at) && line % 4 == 0 && step % 4 == 0; }
};
inline Factor along(const real* at, int k, int64_t step = 0) { return {at, k, true, step}; }
inline Factor across(const real* at, int width, int64_t step = 0) { return {at, width, false, step}; }

// What becomes of four sums of one row, from column j on, which go to c[at]: one of these.
struct Into {
  bool add_to_c = false;
  FIELDS(Into, add_to_c)
  __device__ bool whole() const { return true; }
  __device__ Quad operator()(Quad sum, const real* c, int64_t at, int, int left, bool whole) const {
    if (add_to_c) add(sum, load(c + at, left, whole));
    return sum;
  }
};
struct WithBias {                  // a linear layer; bias may be null
  const real* bias = nullptr;
  bool relu = false;
  FIELDS(WithBias, bias, relu)
  __device__ bool whole() const { return aligned(bias); }
  __device__ Quad operator()(Quad sum, const real*, int64_t, int j, int left, bool whole) const {
    if (bias) add(sum, load(bias + j, left, whole));
    for (int e = 0; e < 4; ++e) sum.at[e] = relu && sum.at[e] < 0 ? 0 : sum.at[e];           // NaN stays
    return sum;
  }
};
struct Gated {                     // the sum where gate > 0: the gradient behind a ReLU
  const real* gate = nullptr;
  FIELDS(Gated, gate)
  __device__ bool whole() const { return aligned(gate); }
  __device__ Quad operator()(Quad sum, const real*, int64_t at, int, int left, bool whole) const {
    const Quad g = load(gate + at, left, whole);
    for (int e = 0; e < 4; ++e) sum.at[e] = g.at[e] > 0 ? sum.at[e] : 0;
    return sum;
  }
};

// Parts are the products of a batch, or the splits of one long sum.
template <class Finish>
struct Job {
  Factor a, b;
  real* c = nullptr;
  int m = 0, n = 0, k = 0;         // a: (m, k)   b: (k, n)   c: (m, n), for each part
  Finish finish = {};
  int parts = 0;
  int64_t k_total = 0;             // of all parts: the last split may have fewer terms than k
  int64_t c_step = 0;              // from one part's results to the next's
  real* b_sums = nullptr;          // (n) for each part, c_step apart: sums of b's columns, or null
  unsigned first_block = 0;
  FIELDS(Job, a, b, c, m, n, k, finish, parts, k_total, c_step, b_sums, first_block)
};
template <class Finish>
Job<Finish> one_product(Factor a, Factor b, real* c, int m, int n, int k, Finish finish) {
  return {.a = a, .b = b, .c = c, .m = m, .n = n, .k = k, .finish = finish, .parts = 1, .k_total = k};
}
constexpr int max_jobs = 3;
template <class Finish>
struct Jobs {
  Job<Finish> at[max_jobs];
  FIELDS(Jobs, at)
};

constexpr int tile_columns = 64, depth = 32;

// The 4 x 4 numbers that one thread brings to a tile in each step, four lines of four: four s of places 4q .. 4q + 3.
// While the block works on one step, those of the next are on their way.
//
// In shared memory a tile is (depth, fours). Quad s of place p lies at s ^ (p / 4): so neither those who transpose
// lines that run along the sum nor those who read meet in a bank.
struct Fetch {
  const real* from;
  int line, lines, left;           // `lines` lines and `left` numbers of each exist from here on
  unsigned fours, s, q;
  bool is_along, whole, idle;
  Quad x[4];

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
    for (int r = 0; r < 4; ++r) x[r] = load(from + int64_t(r) * line, r < lines ? left : 0, whole);
  }
  __device__ void next() {
    if (is_along) from += depth, left -= depth;
    else from += int64_t(depth) * line, lines -= depth;
    load_lines();
  }
  template <class Shared>
  __device__ void put(Shared& tile, unsigned base) const {
    if (idle) return;
    for (int p = 0; p < 4; ++p) {
      const Quad transposed{{x[0].at[p], x[1].at[p], x[2].at[p], x[3].at[p]}};
      tile[base + (4 * q + p) * fours + (s ^ q)] = is_along ? transposed : x[p];
    }
  }
};

namespace {

template <int rows, class Finish>
__global__ void __launch_bounds__(threads, 2) product_tiles(const Jobs<Finish> jobs) {
  constexpr unsigned teams = 128 / rows, team_threads = threads / teams;       // unsigned: shifts and masks divide
  constexpr unsigned a_fours = rows / 4, b_fours = tile_columns / 4, b_tile = depth * a_fours;
  SHARED(Quad, tile, 1024);                                                    // a's, then b's

  int which = 0;
  while (which + 1 < max_jobs && blockIdx.x >= jobs.at[which + 1].first_block) ++which;
  const Job<Finish>& job = jobs.at[which];
  const int m = job.m, n = job.n;
  const unsigned tiles_across = unsigned(n + tile_columns - 1) / tile_columns;
  const unsigned tiles_down = m > rows ? unsigned(m + rows - 1) / rows : 1;
  const unsigned block = blockIdx.x - job.first_block, down = block / tiles_across;
  const int i0 = int(down % tiles_down) * rows, j0 = int(block % tiles_across) * tile_columns;
  const int part = int(down / tiles_down);
  const int64_t k_left = job.k_total - int64_t(part) * job.k;
  const int k = k_left < job.k ? int(k_left) : job.k;

  // Half of the threads bring the tile of b, the others that of a.
  const unsigned t = threadIdx.x;
  const bool of_b = t < threads / 2;
  Fetch fetch(of_b ? job.b : job.a, part, of_b ? j0 : i0, of_b ? n : m, k, of_b ? b_fours : a_fours, t % (threads / 2));

  // 8 rows by 4 columns are one thread's, 4 x 8 such patches a warp's. Neighbours share the four of a, and lanes at
  // distance 2 that of b: then shared memory serves 16 lanes at once.
  const unsigned team = t / team_threads, in_team = t % team_threads, w = in_team / warp, lane = t % warp;
  const unsigned eight = w / 2 * 4 + lane / 2 % 2 + lane / 16 * 2, four = w % 2 * 8 + lane % 2 + lane / 4 % 4 * 2;
  const bool adds_b = job.b_sums && i0 == 0;                   // sums of b's columns: two places of each step a thread
  const unsigned b_four = t % b_fours, b_place = t / b_fours * 2;
  Quad sum[8] = {}, b_sum{};

  for (int p0 = 0; p0 < k; p0 += depth) {
    fetch.put(tile, of_b ? b_tile : 0);
    __syncthreads();
    if (p0 + depth < k) fetch.next();
    constexpr unsigned share = depth / 4 / teams;              // of a team, in fours of places
    for (unsigned q = team * share; q < team * share + share; ++q)
      for (unsigned p = 4 * q; p < 4 * q + 4; ++p) {
        const Quad low = tile[p * a_fours + (2 * eight ^ q)], high = tile[p * a_fours + ((2 * eight + 1) ^ q)];
        const Quad b = tile[b_tile + p * b_fours + (four ^ q)];
        for (int r = 0; r < 4; ++r) add(sum[r], low.at[r], b), add(sum[4 + r], high.at[r], b);
      }
    if (adds_b)
      for (unsigned p = b_place; p < b_place + 2; ++p) add(b_sum, tile[b_tile + p * b_fours + (b_four ^ (p / 4))]);
    __syncthreads();
  }

  if (adds_b) {
    tile[t] = b_sum;
    __syncthreads();
    if (t < b_fours) {
      for (unsigned other = t + b_fours; other < threads; other += b_fours) add(b_sum, tile[other]);
      const int j = j0 + 4 * int(t);
      store(job.b_sums + part * job.c_step + j, b_sum, n - j, false);
    }
    __syncthreads();
  }
  for (unsigned half = teams / 2; half > 0; half /= 2) {       // the upper half of the teams hands over to the lower
    const unsigned place = team % half * 8 * team_threads + in_team;
    if (team >= half && team < 2 * half)
      for (int r = 0; r < 8; ++r) tile[place + r * team_threads] = sum[r];
    __syncthreads();
    if (team < half)
      for (int r = 0; r < 8; ++r) add(sum[r], tile[place + r * team_threads]);
    __syncthreads();
  }
  if (team > 0) return;
  const int i = i0 + 8 * int(eight), j = j0 + 4 * int(four), left = n - j;
  const int64_t to = part * job.c_step + int64_t(i) * n + j;
  const bool whole = n % 4 == 0 && job.c_step % 4 == 0 && aligned(job.c) && job.finish.whole();
  for (int r = 0; r < 8; ++r)                                  // all reads first: none has to wait for a write
    if (i + r < m) sum[r] = job.finish(sum[r], job.c, to + int64_t(r) * n, j, left, whole);
  for (int r = 0; r < 8; ++r)
    if (i + r < m) store(job.c + to + int64_t(r) * n, sum[r], left, whole);
}

}  // namespace

inline int64_t tiles(int64_t m, int n, int rows = 64) {
  return (m > rows ? (m + rows - 1) / rows : 1) * ((n + tile_columns - 1) / tile_columns);
}

// Tiles of 64 rows are the better deal for a multiprocessor, but there must be two for each of an H100's 132.
constexpr int64_t enough_blocks = 2 * 132;

// A job without parts is none.
template <class Finish>
void multiply(const Job<Finish>& first, const Job<Finish>& second = {}, const Job<Finish>& third = {}) {
  Jobs<Finish> jobs{{first, second, third}};
  const auto count = [&](int rows) {
    int64_t blocks = 0;
    for (Job<Finish>& j : jobs.at) {
      j.first_block = unsigned(blocks);
      blocks += j.parts * tiles(j.m, j.n, rows);
    }
    return unsigned(blocks);
  };
  if (const unsigned blocks = count(64); blocks >= enough_blocks)
    launch(product_tiles<64, Finish>, blocks, threads, jobs);
  else if (const unsigned smaller = count(32); smaller > 0)
    launch(product_tiles<32, Finish>, smaller, threads, jobs);
}

}  // namespace poslab::cuda
