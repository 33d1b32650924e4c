// The fast attention kernels against the naive one (core/cpu/attention/naive.h), called as core/kernels.h specifies:
// random sizes, terms, pieces and spans; results that begin empty or with values; and the memory for long sequences.
#include "core/cpu/attention/naive.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <thread>

#include "core/memory.h"
#include "core/platform/isa.h"
#include "core/platform/parallel.h"
#include "core/random.h"
#include "cuda/backend.h"

namespace poslab::test {
namespace {

#ifdef POSLAB_DOUBLE
constexpr double tolerance = 1e-11;
#else
constexpr double tolerance = 2e-5;
#endif

using Reals = std::vector<real>;

// One call, with the arrays that it points to. wide: heads of up to 300 channels. square: q, k and v have one shape.
// narrow: heads of 8 channels and no term but a bias (narrow_heads.h). blocked: more channels, several pieces and no
// other term (wide_heads.h). many: narrow, with more pairs than the backward pass stores.
enum class Sizes { small, wide, square, narrow, blocked, many };
struct Call {
  AttentionArgs x{};
  std::vector<Reals> arrays = std::vector<Reals>(14);
  std::vector<int> pairs, lengths;
  Reals d_o;

  explicit Call(uint32_t number, Sizes sizes = Sizes::small) {
    Rng rng({0, 5, number});
    const auto below = [&](int n) { return int(rng.below(uint32_t(n))); };
    const auto often = [&] { return below(3) == 0; };
    x.batch = 1 + below(3), x.queries = 1 + below(40), x.keys = 1 + below(70), x.kv_heads = 1 + below(2);
    x.heads = x.kv_heads * (1 + below(3)), x.head_dim = 1 + below(20),
    x.value_dim = often() ? 1 + below(70) : x.head_dim;
    if (sizes == Sizes::wide)
      x.queries = 1 + below(7), x.keys = 1 + below(20), x.head_dim = 30 + below(270), x.value_dim = 30 + below(270);
    if (sizes == Sizes::square) x.keys = x.queries, x.kv_heads = x.heads, x.value_dim = x.head_dim;
    const bool narrow = sizes == Sizes::narrow || sizes == Sizes::many;
    if (narrow) x.queries = 8 + below(60), x.kv_heads = x.heads, x.head_dim = x.value_dim = 8;
    if (sizes == Sizes::many) x.batch = x.heads = x.kv_heads = 1, x.queries = 140, x.keys = 1000;
    const bool blocked = sizes == Sizes::blocked;
    if (blocked) x.queries = 16 + below(120), x.keys = 64 + below(120), x.head_dim = 16 + below(40);
    if (blocked) x.value_dim = often() ? 16 + below(40) : x.head_dim;
    const auto limit = [&] { return !narrow && often(); };
    const auto term = [&] { return !blocked && limit(); };
    x.causal = often(), x.offset = below(3) == 0 ? below(30) : std::max(0, x.keys - x.queries), x.scale = real(0.3);
    const auto fill = [&](int slot, int64_t n) {
      for (int64_t e = 0; e < n; ++e) arrays[size_t(slot)].push_back(real(2 * rng.uniform() - 1));
      return arrays[size_t(slot)].data();
    };
    // Adjacent intervals of distances; the outer ends are anywhere, and the last interval may be cut at a key slot.
    x.pieces = narrow || often() ? 1 : 1 + below(max_pieces);
    int from = limit() ? -below(20) : -far;
    for (int p = 0; p < x.pieces; ++p) {
      const int to = narrow || (p + 1 == x.pieces && often()) ? far : std::max(from, -30) + below(25);
      x.piece[p].from = from, x.piece[p].to = to, from = to;
    }
    if (x.pieces > 1 && often()) {
      AttentionPiece &a = x.piece[x.pieces - 2], &b = x.piece[x.pieces - 1];
      b.from = a.from, b.to = a.to, a.end = b.first = below(x.keys);
    } else if (sizes != Sizes::many && often()) {
      x.piece[0].first = below(4), x.piece[0].end = x.keys - below(4);
    }
    const int64_t queries = int64_t(x.batch) * x.queries * x.heads, keys = int64_t(x.batch) * x.keys * x.kv_heads;
    for (int p = 0; p < x.pieces; ++p)
      x.piece[p].q = fill(p, queries * x.head_dim), x.piece[p].k = fill(max_pieces + p, keys * x.head_dim);
    x.v = fill(8, keys * x.value_dim);
    x.rows = std::max(x.offset + x.queries, x.keys) - 1 + x.keys;
    if (term()) {
      x.rows = 1 + below(9), x.pairs_batch = often() ? x.batch : 1;
      for (int64_t e = 0; e < int64_t(x.pairs_batch) * x.queries * x.keys; ++e) pairs.push_back(below(x.rows));
      x.pairs = pairs.data();
    }
    if (term())
      x.rel_dim = 1 + below(12), x.q_rel = fill(9, queries * x.rel_dim),
      x.r = fill(10, int64_t(x.rows) * x.heads * x.rel_dim);
    if (term()) x.gain = fill(11, int64_t(x.rows) * x.heads);
    if (!blocked && often()) x.bias = fill(12, int64_t(x.rows) * x.heads);
    if (term()) {
      x.temperature_batch = often() ? x.batch : 1, x.temperature_heads = often() ? x.heads : 1;
      x.temperature = fill(13, int64_t(x.temperature_batch) * x.queries * x.temperature_heads);
    }
    for (int b = 0; b < x.batch; ++b) lengths.push_back(below(x.keys + 1));
    if (limit()) x.key_lengths = lengths.data();
    for (int64_t e = 0; e < queries * x.value_dim; ++e) d_o.push_back(real(2 * rng.uniform() - 1));
  }
};

// Gradients for all arrays of a call. Each element begins as `value`, unless the gradients begin empty.
struct Grads {
  std::vector<Reals> at;
  AttentionGrads sums{};
  Grads(const Call& c, real value, bool empty) {
    for (const Reals& x : c.arrays) at.emplace_back(x.size(), value);
    const auto sum = [&](int slot) {
      return at[size_t(slot)].empty() ? Accumulator{} : Accumulator{at[size_t(slot)].data(), empty};
    };
    for (int p = 0; p < max_pieces; ++p) sums.q[p] = sum(p), sums.k[p] = sum(max_pieces + p);
    sums.v = sum(8), sums.q_rel = sum(9), sums.r = sum(10), sums.gain = sum(11), sums.bias = sum(12),
    sums.temperature = sum(13);
  }
};

double difference(const Reals& a, const Reals& b) {
  double gap = 0, size = 1;
  for (size_t e = 0; e < a.size(); ++e) {
    const double away = std::abs(double(a[e]) - double(b[e]));
    gap = away >= 0 ? std::max(gap, away) : INFINITY, size = std::max(size, std::abs(double(b[e])));
  }
  return gap / size;
}

}  // namespace

TEST_CASE("attention: the fast kernels = the naive one, for random calls, in every instruction set") {
  const std::string before = isa();
  for (uint32_t number = 0; number < 421; ++number) {
    // narrow calls need no gradient of the bias, as with ALiBi
    const bool narrow = (number >= 300 && number < 360) || number == 420;
    const Call c(number, number < 300   ? Sizes::small
                         : number < 360 ? Sizes::narrow
                         : number < 420 ? Sizes::blocked
                                        : Sizes::many);
    const AttentionArgs& x = c.x;
    INFO("call " << number << ": B " << x.batch << " Tq " << x.queries << " Tk " << x.keys << " H " << x.heads << " G "
                 << x.kv_heads << " D " << x.head_dim << " pieces " << x.pieces << " offset " << x.offset << " causal "
                 << x.causal);
    const bool empty = number % 2 == 0;
    Reals o(c.d_o.size()), ours(o.size(), real(NAN)), stats(size_t(x.batch) * size_t(x.heads) * size_t(x.queries) * 2);
    Grads naive_grads(c, empty ? 0 : real(0.5), false);
    naive::attention(o.data(), x);
    naive::attention_backward(naive_grads.sums, x, c.d_o.data());
    for (const std::string& name : available_isas()) {
      INFO(name);
      use_isa(name);
      const Kernels& run = kernels(Device::cpu);
      run.attention(ours.data(), stats.data(), x);
      CHECK(difference(ours, o) < tolerance);
      Grads grads(c, empty ? real(NAN) : real(0.5), empty);
      if (narrow) grads.sums.bias = {};
      run.attention_backward(grads.sums, x, c.d_o.data(), ours.data(), stats.data());
      for (size_t n = 0; n < grads.at.size(); ++n) {
        if (narrow && n == 12) continue;
        INFO("array " << n);
        CHECK(difference(grads.at[n], naive_grads.at[n]) < tolerance);
      }
    }
  }
  use_isa(before);
}

#ifdef POSLAB_EMULATE
// The CUDA kernels are emulated on the host, so they accept the host's arrays. one_array: the gradients of the first q,
// the first k and of v share one array, which begins with zeros.
void emulated_like_naive(uint32_t number, Sizes sizes, bool one_array) {
  const Call c(number, sizes);
  const AttentionArgs& x = c.x;
  INFO("call " << number << ": B " << x.batch << " Tq " << x.queries << " Tk " << x.keys << " H " << x.heads << " G "
               << x.kv_heads << " D " << x.head_dim << " Dv " << x.value_dim << " pieces " << x.pieces);
  const Kernels& run = cuda::as_backend().kernels();
  const bool empty = number % 2 == 0;
  Reals o(c.d_o.size()), ours(o.size(), real(NAN)), stats(size_t(x.batch) * size_t(x.heads) * size_t(x.queries) * 2);
  Grads expected(c, empty ? 0 : real(0.5), false), grads(c, empty ? real(NAN) : real(0.5), empty);
  if (one_array)
    for (Grads* g : {&expected, &grads}) {
      for (const int array : {0, max_pieces, 8})
        std::fill(g->at[size_t(array)].begin(), g->at[size_t(array)].end(), real(0));
      g->sums.q[0] = g->sums.k[0] = g->sums.v = {g->at[8].data(), false};
    }
  naive::attention(o.data(), x);
  naive::attention_backward(expected.sums, x, c.d_o.data());
  run.attention(ours.data(), stats.data(), x);
  CHECK(difference(ours, o) < tolerance);
  run.attention_backward(grads.sums, x, c.d_o.data(), ours.data(), stats.data());
  for (size_t n = 0; n < grads.at.size(); ++n) {
    INFO("array " << n);
    CHECK(difference(grads.at[n], expected.at[n]) < tolerance);
  }
}

TEST_CASE("attention: the CUDA kernels = the naive one, for random calls") {
  const cuda::DeviceMemoryOpen open;
  const cuda::HostMemoryToo too;
  for (uint32_t number = 0; number < 100; ++number) emulated_like_naive(number, Sizes::small, false);
  for (uint32_t number = 0; number < 40; ++number) emulated_like_naive(number, Sizes::wide, false);
  for (uint32_t number = 0; number < 40; ++number) emulated_like_naive(number, Sizes::square, true);
}
#endif

// The bytes of scratch memory that the kernels use for one head and `time` slots, forward and backward.
int64_t scratch_of(int time, const std::vector<AttentionPiece>& pieces) {
  const int D = 4;
  Rng rng({0, 6, uint32_t(time)});
  std::vector<Reals> arrays(4, Reals(size_t(time) * D)), grads = arrays;
  for (Reals& a : arrays)
    for (real& e : a) e = real(4 * rng.uniform() - 2);
  AttentionArgs x{.batch = 1, .queries = time, .keys = time, .heads = 1, .kv_heads = 1, .head_dim = D, .value_dim = D};
  x.v = arrays[2].data(), x.pieces = int(pieces.size());
  for (int p = 0; p < x.pieces; ++p)
    x.piece[p] = pieces[size_t(p)], x.piece[p].q = arrays[0].data(), x.piece[p].k = arrays[1].data();
  Reals o(arrays[0].size()), stats(size_t(time) * 2), one(D);
  AttentionGrads d{};
  for (int p = 0; p < x.pieces; ++p) d.q[p] = {grads[0].data(), false}, d.k[p] = {grads[1].data(), false};
  d.v = {grads[2].data(), false};
  const int64_t before = memory().bytes_requested;
  const Kernels& run = kernels(Device::cpu);
  run.attention(o.data(), stats.data(), x);
  run.attention_backward(d, x, arrays[3].data(), o.data(), stats.data());
  for (const int i : {0, 1, 255, 256, 1500, time - 1}) {  // only some rows
    AttentionArgs row = x;
    row.queries = 1, row.offset = i;
    for (AttentionPiece& p : row.piece) p.q = p.q ? p.q + i * D : nullptr;
    naive::attention(one.data(), row);
    CHECK(difference(Reals(o.begin() + i * D, o.begin() + (i + 1) * D), one) < tolerance);
  }
  return memory().bytes_requested - before;
}

TEST_CASE("attention: long sequences keep no matrix of queries by keys") {
  const int before = threads();
  set_threads(1);
  int64_t all = 0, window = 0;
  std::thread([&] { all = scratch_of(6000, {{}}); }).join();  // a new thread begins without scratch memory
  std::thread([&] { window = scratch_of(32768, {{.from = -256, .to = 1}, {.to = -256, .end = 4}}); }).join();
  set_threads(before);
  const int64_t tile = 64 * 1024 * int64_t(sizeof(real));
  MESSAGE("scratch on one thread: " << all / 1024 << " KiB for 6000 keys, " << window / 1024
                                    << " KiB for a window and sinks in 32768");
  CHECK(all < 4 * tile);
  CHECK(window < 4 * tile);
}

}  // namespace poslab::test
