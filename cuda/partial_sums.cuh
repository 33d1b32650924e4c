// Sums over very many rows: x^T dy of a weight matrix has a few tiles of results, each a sum over thousands of rows. So
// the rows are split (split-K), each split gives partial sums of its own, and a second launch adds those up in order.
#pragma once
#include <utility>

#include "cuda/gemm.cuh"

namespace poslab::cuda {

// What lies at from .. from + n of each split's partial sums is added to `to`.
struct Section {
  Accumulator to;
  int64_t from = 0, n = 0;
  FIELDS(Section, to, from, n)
};
constexpr int max_sections = 4;
struct Sections {
  Section at[max_sections];
  FIELDS(Sections, at)
};

namespace {

// 32 sums a block, one a lane; the warps share the splits.
__global__ void add_partial_sums(const Sections sections, const real* partial, int splits, int64_t size) {
  SHARED(real, of_warp, 1024);
  const int lane = int(threadIdx.x) % warp, w = int(threadIdx.x) / warp, warps = int(blockDim.x) / warp;
  const int64_t e = int64_t(blockIdx.x) * warp + lane;
  Section mine;
  for (const Section& s : sections.at)
    if (e >= s.from && e < s.from + s.n) mine = s;
  real sum = 0;
  for (int first = w; mine.to.at && first < splits; first += 4 * warps) {
    real x[4];                                               // four loads in flight
    for (int u = 0; u < 4; ++u) x[u] = first + u * warps < splits ? partial[(first + u * warps) * size + e] : 0;
    for (int u = 0; u < 4; ++u) sum += x[u];
  }
  of_warp[threadIdx.x] = sum;
  __syncthreads();
  if (w > 0 || !mine.to.at) return;
  for (int other = 1; other < warps; ++other) sum += of_warp[other * warp + lane];
  add_to(mine.to, e - mine.from, sum);
}

}  // namespace

// How a sum over k terms, of `tiles` tiles of results, is split: the GPU full, no split shorter than 64, in a way that
// depends on the sizes alone.
class PartialSums {
 public:
  PartialSums(int64_t k, int64_t tiles) {
    const int64_t wanted = tiles < enough_blocks ? enough_blocks / tiles : 1, even = (k + wanted - 1) / wanted;
    length_ = int(even < 64 ? 64 : (even + depth - 1) / depth * depth);
    count_ = int((k + length_ - 1) / length_);
  }
  static PartialSums of_batch(int count, int k) {                        // a split for each matrix of a batch
    PartialSums s(k, 1);
    s.length_ = k, s.count_ = count;
    return s;
  }
  int length() const { return length_; }
  int count() const { return count_; }
  Factor split(Factor f) const {
    f.step = f.is_along ? length_ : int64_t(length_) * f.line;
    return f;
  }

  // All sections first, then allocate(), then products into what it returns, then add_up().
  int64_t section(Accumulator to, int64_t n) {
    const int64_t from = size_;
    sections_.at[used_++] = {to, from, n};
    size_ += (n + 3) / 4 * 4;
    return from;
  }
  int64_t size() const { return size_; }
  real* allocate() { return partial_ = scratch(0, count_ * size_); }
  void add_up() const {
    Sections now = sections_, later;                                   // where two sections are one array: tied weights
    bool any_later = false;
    for (int i = 0; i < used_; ++i)
      for (int other = 0; other < i; ++other)
        if (now.at[i].to && now.at[i].to.at == now.at[other].to.at)
          later.at[i] = std::exchange(now.at[i], {}), any_later = true;
    start(now);
    if (any_later) start(later);
  }

 private:
  void start(const Sections& sections) const {
    const int warps = count_ < 128 ? (count_ + 3) / 4 : 32;            // four splits a thread
    launch(add_partial_sums, unsigned((size_ + warp - 1) / warp), warps * warp, sections, partial_, count_, size_);
  }
  int length_, count_, used_ = 0;
  int64_t size_ = 0;
  real* partial_ = nullptr;
  Sections sections_;
};

// dw += x^T dy   db += sum of rows of dy                                  x: (rows, in)   dy: (rows, out)
struct Weights {
  Accumulator dw, db;
  const real *x = nullptr, *dy = nullptr;
  int in = 0, out = 0;
  explicit operator bool() const { return dw || db; }
};

// The gradients of one or two weight matrices: make jobs of them, multiply those, add_up().
class WeightGradients {
 public:
  WeightGradients(int64_t rows, const Weights& first, const Weights& second = {})
      : rows_(rows), weights_{first, second},
        sums_(rows, tiles(first.in, first.out) + (second ? tiles(second.in, second.out) : 0)) {
    for (int i = 0; i < 2; ++i) {
      at_w_[i] = sums_.section(weights_[i].dw, weights_[i].dw ? int64_t(weights_[i].in) * weights_[i].out : 0);
      at_b_[i] = sums_.section(weights_[i].db, weights_[i].db ? weights_[i].out : 0);
    }
    if (first || second) partial_ = sums_.allocate();
  }
  Job<Into> job(int i) const {
    const Weights& w = weights_[i];
    if (!w) return {};
    return {.a = sums_.split(across(w.x, w.in)),
            .b = sums_.split(across(w.dy, w.out)),
            .c = partial_ + at_w_[i],
            .m = w.dw ? w.in : 0,                            // no rows of dw, but the sums of dy's columns
            .n = w.out,
            .k = sums_.length(),
            .parts = sums_.count(),
            .k_total = rows_,
            .c_step = sums_.size(),
            .b_sums = w.db ? partial_ + at_b_[i] : nullptr};
  }
  void add_up() const {
    if (partial_) sums_.add_up();
  }

 private:
  int64_t rows_;
  Weights weights_[2];
  PartialSums sums_;
  int64_t at_w_[2], at_b_[2];
  real* partial_ = nullptr;
};

}  // namespace poslab::cuda
