// Adds up partial sums, see cuda/sums.h.
#include "cuda/sums.h"

#include <algorithm>
#include <span>
#include <tuple>
#include <utility>
#include <vector>

#include "cuda/vectors.cuh"

namespace poslab::cuda {
namespace {

constexpr int max_sections = 64;                               // limited by a launch's arguments: 4 KB
struct Sections {
  Section at[max_sections];
  int count = 0;
  friend auto fields(const Sections& all) { return std::tuple(all.count, std::span(all.at, size_t(all.count))); }
};

constexpr int sums_of_block = 4 * warp;

// Each lane adds up four sums; the warps share the splits.
__global__ void add_partial_sums(const Sections sections) {
  SHARED(Four, of_warp, threads);
  int mine = 0;                                                // the last section that begins no later than this block
  for (int step = max_sections / 2; step > 0; step /= 2)
    if (mine + step < sections.count && sections.at[mine + step].first_block <= blockIdx.x) mine += step;
  const Section& s = sections.at[mine];
  const int lane = int(threadIdx.x) % warp, w = int(threadIdx.x) / warp, warps = threads / warp;
  const int64_t e = int64_t(blockIdx.x - s.first_block) * sums_of_block + 4 * lane;
  const int left = e + 4 < s.n ? 4 : e < s.n ? int(s.n - e) : 0;
  const bool whole = s.n % 4 == 0 && s.pitch % 4 == 0 && aligned(s.partial);
  Four sum{};
  for (int first = w; left && first < s.splits; first += 4 * warps) {
    Four x[4];                                                 // four loads in flight
    UNROLL for (int u = 0; u < 4; ++u) {
      const int split = first + u * warps;
      x[u] = split < s.splits ? four(s.partial + split * s.pitch + e, 0, left, whole) : Four{};
    }
    UNROLL for (int u = 0; u < 4; ++u) add_scaled(sum, 1, x[u]);
  }
  of_warp[threadIdx.x] = sum;
  __syncthreads();
  if (w > 0 || !left) return;
  for (int other = 1; other < warps; ++other) add_scaled(sum, 1, of_warp[other * warp + lane]);
  put(s.to.at + e, s.to.empty, 0, left, whole && aligned(s.to.at), sum);
}

// Partial sums lie in chunks that are always filled in the same order, so that a replayed step finds them again.
struct Chunk { real* at; int64_t size; };
struct Waiting {
  std::vector<Section> sections, started;                      // started: their memory may be reused
  Extent extent;                                               // memory that sections add to
  std::vector<Chunk> chunks;
  size_t chunk = 0;
  int64_t used = 0, all_used = 0;                              // reals used in this chunk, and in all chunks
  int64_t open = 0;                // reals reserved for an op that has not called add_up_later() yet
  void forget() {
    sections.clear(), extent = {};
    if (open) all_used = open;
    else chunk = 0, used = all_used = 0;
  }
};
Waiting& waiting() { return of_this_queue<Waiting>(); }

constexpr int64_t most_waiting = (32 << 20) / int64_t(sizeof(real));

bool overlap(const Accumulator& a, int64_t n, const real* begin, const real* end) {
  return a.at < end && begin < a.at + n;
}

void start(std::vector<Section>::const_iterator from, std::vector<Section>::const_iterator to) {
  Sections sections;
  unsigned blocks = 0;
  for (auto s = from; s != to; ++s) {
    Section& own = sections.at[s - from] = *s;
    own.first_block = blocks;
    blocks += unsigned((s->n + sums_of_block - 1) / sums_of_block);
  }
  sections.count = int(to - from);
  launch_first(add_partial_sums, blocks, threads, sections);
}

}  // namespace

real* room_for_sums(int64_t n) {
  Waiting& w = waiting();
  n = (n + 3) / 4 * 4;
  if (!w.sections.empty() && w.all_used + n > most_waiting) start_sums();
  while (w.chunk < w.chunks.size() && w.used + n > w.chunks[w.chunk].size) ++w.chunk, w.used = 0;
  if (w.chunk == w.chunks.size()) {
    const int64_t size = std::max(n, most_waiting);
    w.chunks.push_back({memory_for_good(size), size});
  }
  w.all_used += n, w.open = n;
  return w.chunks[w.chunk].at + std::exchange(w.used, w.used + n);
}

void add_up_later(Section s) {
  Waiting& w = waiting();
  w.open = 0;
  if (s.to && s.n > 0) {
    w.sections.push_back(s);
    const void *begin = s.to.at, *end = s.to.at + s.n;
    w.extent = {w.extent.begin ? std::min(w.extent.begin, begin) : begin, std::max(w.extent.end, end)};
  }
}

// Sections that add to the same result are added up one after the other; others share a launch.
void start_sums() {
  start_products();
  Waiting& w = waiting();
  std::vector<Section>& all = w.started;
  all.swap(w.sections), w.forget();
  for (auto from = all.cbegin(); from != all.cend();) {
    auto to = from;
    const auto free = [&](const Section& s) {
      return std::none_of(from, to, [&](const Section& o) { return overlap(o.to, o.n, s.to.at, s.to.at + s.n); });
    };
    while (to != all.cend() && to - from < max_sections && free(*to)) ++to;
    start(from, to);
    from = to;
  }
}

Extent where_sums_go() { return waiting().extent; }

void start_sums_in(const void* begin, const void* end) {
  const Waiting& w = waiting();
  if (end <= w.extent.begin || w.extent.end <= begin) return;
  const std::vector<Section>& all = w.sections;
  const auto in = [&](const Section& s) {
    return overlap(s.to, s.n, static_cast<const real*>(begin), static_cast<const real*>(end));
  };
  if (std::any_of(all.begin(), all.end(), in)) start_sums();
}

void drop_sums() {
  waiting().open = 0;
  waiting().forget();
}

}  // namespace poslab::cuda
