// The product of cuda/product.h, and which products wait for which.
//
// A block of 256 threads makes a tile of c, 32 or 64 rows by 64 columns. In each step 32 indices of the sum go through
// shared memory; results stay in registers. Teams of threads divide the indices of a step among them, and add up at the
// end. cuda/naive/linear.cu computes the same without tiles; docs/gpu.md draws the shared memory.
#include <algorithm>
#include <span>
#include <tuple>

#include "cuda/norm_row.cuh"
#include "cuda/product_tile.cuh"

namespace poslab::cuda {
namespace {

struct Jobs {
  Job at[max_jobs];
  int count = 0;
  friend auto fields(const Jobs& all) { return std::tuple(all.count, std::span(all.at, size_t(all.count))); }
};

// y = norm(s), s = x + dropout(z) for rows i0 .. i0 + rows - 1, whose z lies in the tile: 8 threads a row.
template <int rows, class Shared>
__device__ inline void norm_of_tile(Shared& tile, const NormOfProduct& to, int i0, int m, int n) {
  for (int r = int(threadIdx.x) / 8; r < rows; r += threads / 8) {
    Row<8> row(m, n);
    row.i = i0 + r, row.n = row.i < m ? n : 0;
    real v[per_thread], sum = 0;
    row.read(v, to.x, 0, 0);
    const Factors<8> kept(to.drop, row.start());
    for (int k = 0; k < per_thread; ++k) {
      const Four z = tile[r * 16 + row.column(0, k) / 4];
      const int e = row.lane % 4;                              // an index known only at run time would move z to memory
      const real at = e == 0 ? z.c[0] : e == 1 ? z.c[1] : e == 2 ? z.c[2] : z.c[3];
      v[k] += (row.column(0, k) < row.n ? at : real(0)) * kept.of(k);
      sum += v[k];
    }
    row.write(to.s, v, 0);
    write_normed<NormKind::layer>(row, to.y, v, sum, to.s, to.gain, to.bias, to.epsilon);
  }
}

template <unsigned rows, class Sums>
__global__ void __launch_bounds__(threads, 2) product_tiles(const Jobs jobs, const NormOfProduct norm) {
  constexpr unsigned a_fours = rows / 4, b_fours = tile_columns / 4, b_tile = depth * a_fours;
  SHARED(Four, tile, 1024);                                                    // a's, then b's

  int which = 0;
  while (which + 1 < jobs.count && blockIdx.x >= jobs.at[which + 1].first_block) ++which;
  const Job& job = jobs.at[which];
  const int m = job.m, n = job.n;
  const unsigned tiles_across = unsigned(n + int(tile_columns) - 1) / tile_columns;
  const unsigned tiles_down = m > int(rows) ? (unsigned(m) + rows - 1) / rows : 1;
  const unsigned block = blockIdx.x - job.first_block, down = block / tiles_across;    // unsigned: shifts divide
  const int i0 = int(down % tiles_down * rows), j0 = int(block % tiles_across * tile_columns);
  const int part = int(down / tiles_down);

  // Half of the threads load the tile of b, the others the tile of a.
  const unsigned t = threadIdx.x;
  const bool of_b = t < threads / 2;
  const auto length = [&](int term) {
    const int64_t left = job.k_total - int64_t(part) * job.term[term].k;
    return job.terms == 1 && left < job.term[term].k ? int(left) : job.term[term].k;
  };
  const auto first_of = [&](int term) {
    const Term& x = job.term[term];
    return Fetch(of_b ? x.b : x.a, part, of_b ? j0 : i0, of_b ? n : m, length(term), of_b ? b_fours : a_fours,
                 t % (threads / 2));
  };
  const bool adds_b = job.b_sums && i0 == 0;                   // sums of b's columns: a thread adds two indices a step
  const unsigned b_four = t % b_fours, b_place = t / b_fours * 2;
  Sums sums(t);
  Four b_sum{};

  Fetch fetch = first_of(0);
  for (int term = 0, p0 = 0; term < job.terms;) {
    fetch.put(tile, of_b ? b_tile : 0);
    __syncthreads();
    p0 += int(depth);
    if (p0 < length(term)) fetch.next();
    else if (p0 = 0, ++term; term < job.terms) fetch = first_of(term);
    sums.step(tile);
    if (adds_b)
      for (unsigned p = b_place; p < b_place + 2; ++p) add_scaled(b_sum, 1, tile[b_tile + place(p, b_four, b_fours)]);
    __syncthreads();
  }

  if (adds_b) {
    tile[t] = b_sum;
    __syncthreads();
    if (t < b_fours) {
      for (unsigned other = t + b_fours; other < threads; other += b_fours) add_scaled(b_sum, 1, tile[other]);
      const int j = j0 + 4 * int(t);
      put(job.b_sums + part * job.c_step, true, j, n, false, b_sum);
    }
    __syncthreads();
  }
  constexpr unsigned at_once = 1024 / threads * 2;             // fours that a thread of the upper half can hand over
  for (unsigned upper = Sums::teams / 2; upper > 0; upper /= 2)
    UNROLL for (unsigned first = 0; first < Sums::fours; first += at_once) {
      const unsigned to = sums.team % upper * at_once * Sums::team_threads + sums.in_team;
      if (sums.team >= upper && sums.team < 2 * upper)
        UNROLL for (unsigned q = 0; q < at_once; ++q) tile[to + q * Sums::team_threads] = sums.get(first + q);
      __syncthreads();
      if (sums.team < upper)
        UNROLL for (unsigned q = 0; q < at_once; ++q) {
          Four sum = sums.get(first + q);
          add_scaled(sum, 1, tile[to + q * Sums::team_threads]);
          sums.set(first + q, sum);
        }
      __syncthreads();
    }

  const Finish& f = job.finish;
  const bool whole = n % 4 == 0 && job.c_step % 4 == 0 && aligned(job.c) && aligned(f.bias) && aligned(f.gate);
  const auto at = [&](unsigned q) {
    return part * job.c_step + int64_t(i0 + int(sums.row(q))) * n + j0 + int(sums.column(q));
  };
  const auto mine = [&](unsigned q) { return sums.team == 0 && i0 + int(sums.row(q)) < m; };
  UNROLL for (unsigned q = 0; q < Sums::fours; ++q) {                 // all reads first, so that none waits for a write
    if (!mine(q)) continue;
    const int j = j0 + int(sums.column(q));
    Four x = sums.get(q);
    if (f.bias) add_scaled(x, 1, four(f.bias, j, n, whole));
    if (f.relu)
      for (int e = 0; e < 4; ++e) x.c[e] = x.c[e] < 0 ? 0 : x.c[e];                       // NaN stays
    if (f.gate) {
      const Four gate = four(f.gate + at(q), 0, n - j, whole);
      for (int e = 0; e < 4; ++e) x.c[e] = gate.c[e] > 0 ? x.c[e] : 0;
    }
    if (f.add_to_c) add_scaled(x, 1, four(job.c + at(q), 0, n - j, whole));
    sums.set(q, x);
  }
  UNROLL for (unsigned q = 0; q < Sums::fours; ++q)
    if (mine(q)) put(job.c + at(q), true, 0, n - j0 - int(sums.column(q)), whole, sums.get(q));
  if (!norm.y) return;
  if (sums.team == 0)
    UNROLL for (unsigned q = 0; q < Sums::fours; ++q) tile[sums.row(q) * b_fours + sums.column(q) / 4] = sums.get(q);
  __syncthreads();
  norm_of_tile<int(rows)>(tile, norm, i0, m, n);
}

// -- which products wait for which -----------------------------------------------------------------------------------

struct Reach { const real *begin, *end; };         // in memory

template <int most>
struct Reaches {
  Reach at[most];
  int count = 0;
  void add(const real* begin, int64_t n) { at[count++] = {begin, begin + n}; }
  template <int others>
  void add(const Reaches<others>& all) { count = int(std::copy(all.begin(), all.end(), at + count) - at); }
  const Reach* begin() const { return at; }
  const Reach* end() const { return at + count; }
};
template <int n, int m>
bool meet(const Reaches<n>& a, const Reaches<m>& b) {
  for (const Reach& x : a)
    for (const Reach& y : b)
      if (x.begin < y.end && y.begin < x.end) return true;
  return false;
}
template <int n>
void wait_for_sums(const Reaches<n>& all) {
  for (const Reach& r : all) start_sums_in(r.begin, r.end);
}

constexpr int most_read = 2 * max_terms + 2, most_written = 2;     // by one job
struct Touched {
  Reaches<most_read> read;
  Reaches<most_written> written;
};

Touched touched(const Job& j) {
  Touched all;
  const int64_t last = j.parts - 1;
  for (int t = 0; t < j.terms; ++t) {
    const int64_t k = j.terms > 1 ? j.term[t].k : std::min<int64_t>(j.term[t].k, j.k_total - last * j.term[t].k);
    const auto read = [&](const Factor& f, int64_t width, int64_t sum) {
      const int64_t lines = f.is_along ? width : sum, of_line = f.is_along ? sum : width;
      if (lines > 0 && of_line > 0) all.read.add(f.at, last * f.step + (lines - 1) * f.line + of_line);
    };
    const int64_t longest = j.term[t].k;                       // the last split may have fewer terms
    for (const Factor* f : {&j.term[t].a, &j.term[t].b})
      read(*f, f == &j.term[t].a ? j.m : j.n, f->step == 0 ? longest : k);
  }
  const int64_t size = last * j.c_step + int64_t(j.m) * j.n;
  if (j.finish.bias) all.read.add(j.finish.bias, j.n);
  if (j.finish.gate) all.read.add(j.finish.gate, size);
  if (j.m) all.written.add(j.c, size);
  if (j.b_sums) all.written.add(j.b_sums, last * j.c_step + j.n);
  return all;
}

struct Held {
  Jobs jobs;
  Reaches<max_jobs * most_read> read;                          // by all held jobs
  Reaches<max_jobs * most_written> written;
  void forget() { jobs.count = read.count = written.count = 0; }
};
struct Products {
  Held held;
  Rounding form = Rounding::fp32;
  bool by_library = false;
};
Held& held() { return of_this_queue<Products>().held; }
Rounding& form() { return of_this_queue<Products>().form; }

template <unsigned rows>
auto kernel() {
  switch (form()) {
    case Rounding::tf32x3: return product_tiles<32, Fragments<32, Rounding::tf32x3>>;   // 64 rows would spill registers
    case Rounding::tf32: return product_tiles<rows, Fragments<rows, Rounding::tf32>>;
    case Rounding::bf16: return product_tiles<rows, Fragments<rows, Rounding::bf16>>;
    case Rounding::fp32: break;
  }
  return product_tiles<rows, Patch<rows>>;
}

// Tiles of 64 rows use a multiprocessor better, if there are so many that most multiprocessors have two.
constexpr int64_t enough_tall = 3 * multiprocessors / 2;

void start(Held& held, const NormOfProduct& norm) {
  Jobs jobs = held.jobs;
  held.forget();
  const auto count = [&](int rows) {
    int64_t blocks = 0;
    for (Job& j : std::span(jobs.at, size_t(jobs.count))) {
      j.first_block = unsigned(blocks);
      blocks += j.parts * tiles(j.m, j.n, rows);
    }
    return unsigned(blocks);
  };
  if (const unsigned blocks = count(64); blocks >= enough_tall && form() != Rounding::tf32x3)
    launch_first(kernel<64>(), blocks, threads, jobs, norm);
  else
    launch_first(kernel<32>(), count(32), threads, jobs, norm);
}

// Adds job as a term to a held job with the same c, if there is one. Its inputs must not be results of held jobs.
bool joins(Held& held, const Job& job) {
  const Finish& f = job.finish;
  if (!f.add_to_c || f.bias || f.relu || f.gate || job.parts != 1 || job.b_sums) return false;
  for (Job& j : std::span(held.jobs.at, size_t(held.jobs.count)))
    if (j.c == job.c && j.m == job.m && j.n == job.n && j.parts == 1 && j.terms < max_terms && !j.b_sums &&
        !j.finish.relu && !j.finish.gate) {
      j.term[j.terms++] = job.term[0];
      return true;
    }
  return false;
}

// -- by cuBLAS --------------------------------------------------------------------------------------------------------

// c = [gate > 0] max(c + bias, 0), each where it is wanted                                                       (m, n)
__global__ void finish_product(real* c, const real* bias, bool relu, const real* gate, int64_t size, int n) {
  for (const int64_t e : all(size)) {
    real x = bias ? c[e] + bias[e % n] : c[e];
    if (relu && x < 0) x = 0;                                                                     // NaN stays
    c[e] = gate && !(gate[e] > 0) ? 0 : x;
  }
}

bool fits_library(const Job& j) {
  const Finish& f = j.finish;
  const bool finishes = f.bias || f.relu || f.gate, split = j.k_total != j.parts * int64_t(j.term[0].k);
  return j.m > 0 && j.n > 0 && j.term[0].k > 0 && !j.b_sums && !split && !(finishes && (f.add_to_c || j.parts > 1));
}

void multiply_by_library(const Job& j) {
  start_products();
  const Term& t = j.term[0];
  const driver::Gemm gemm{t.a.at, t.b.at, j.c, j.m, j.n, t.k, t.a.line, t.b.line, t.a.is_along, t.b.is_along,
                          t.a.step, t.b.step, j.c_step, j.parts, j.finish.add_to_c, form()};
  if (std::string* key = step_key()) append_key(*key, gemm);
  if (!dry_run()) driver::multiply(gemm);
  const Finish& f = j.finish;
  const int64_t size = int64_t(j.m) * j.n;
  if (f.bias || f.relu || f.gate)
    launch_first(finish_product, blocks_for(size), threads, j.c, f.bias, f.relu, f.gate, size, j.n);
}

}  // namespace

bool multiplies_by_library() { return of_this_queue<Products>().by_library; }

void start_products() {
  if (Held& h = held(); h.jobs.count > 0) start(h, {});
}
void drop_products() { held().forget(); }

void multiply(const Job& job) {
  if (!job.parts) return;
  const Touched mine = touched(job);
  wait_for_sums(mine.read), wait_for_sums(mine.written);
  if (multiplies_by_library() && fits_library(job)) return multiply_by_library(job);
  Held& h = held();
  if (meet(mine.read, h.written)) start(h, {});
  if (joins(h, job)) return h.read.add(mine.read);             // the held job already writes its c
  if (meet(mine.written, h.read) || meet(mine.written, h.written) || h.jobs.count == max_jobs) start_products();
  h.jobs.at[h.jobs.count++] = job, h.read.add(mine.read), h.written.add(mine.written);
}

bool norm_with_product(const real* z, int64_t rows, int n, const NormOfProduct& norm) {
  const int64_t size = rows * n;
  Reaches<3> read;
  Reaches<2> written;
  read.add(norm.x, size), read.add(norm.gain, n), read.add(norm.bias, n);
  written.add(norm.y, size), written.add(norm.s, size);
  wait_for_sums(read), wait_for_sums(written);
  Held& h = held();
  if (h.jobs.count != 1) return false;
  const Job& job = h.jobs.at[0];
  if (job.c != z || job.m != rows || job.n != n || job.parts != 1 || job.b_sums || n > int(tile_columns)) return false;
  if (meet(read, h.written) || meet(written, h.written) || meet(written, h.read)) return false;
  start(h, norm);
  return true;
}

Rounding matmul_in_use() { return form(); }
void use_matmul(Rounding how, bool by_library) {
  Products& p = of_this_queue<Products>();
  if (how != p.form || by_library != p.by_library) start_products();
  p.form = how, p.by_library = by_library;
}

}  // namespace poslab::cuda
