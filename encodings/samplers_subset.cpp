// Random subsets of a pool of N positions. They differ in how the gaps between neighbours are spread:
//
//   randomized    T of N, every subset equally likely; the mean gap is (N + 1) / (T + 1). With `grow` N is a quarter of
//                 the pool for the first third of that many steps, half for the second third, then the whole
//   scattered     the same for a pool that grows with T, so that the mean gap is the same at all lengths
//   log_density   randomized in a random part of the pool, of N' positions, P(N') ~ ln(1 + 1/N') for T <= N' <= N; the
//                 part begins anywhere. N' = N would be randomized, N' = T contiguous
//   blocks        runs of neighbours, each run anywhere that keeps the order; the first has 1 .. block slots
//
// Left out: offsets drawn separately for each side (randomize_both_sides of the released code).
#include <algorithm>
#include <cmath>

#include "core/error.h"
#include "encodings/samplers.h"

namespace poslab {

const OtherNames words_for_randomized("randomized", {"random", "shuffled"});

// Floyd's algorithm (Bentley & Floyd 1987) draws n numbers; a shuffle would draw the whole pool.
std::vector<double> subset(int n, int low, int pool, bool sorted, Rng& rng) {
  std::vector<char> taken(size_t(pool), 0);
  for (int last = pool - n; last < pool; ++last) {
    char& any = taken[rng.below(uint32_t(last + 1))];
    (any ? taken[size_t(last)] : any) = 1;
  }
  std::vector<double> chosen;
  for (int p = 0; p < pool; ++p)
    if (taken[size_t(p)]) chosen.push_back(low + p);
  if (!sorted)
    for (int i = n - 1; i > 0; --i) std::swap(chosen[size_t(i)], chosen[rng.below(uint32_t(i + 1))]);
  return chosen;
}

namespace {

Positions randomized(const Choices& c, const Slots& slots, Rng& rng) {
  return draw_each(slots, rng, [&](Rng& r) {
    return subset(slots.time, c.whole("first"), c.whole("max_position"), !c.on("unsorted"), r);
  });
}

// r_1 < ... < r_{T-1} of 1 .. N-1:      -r_{T-1} ... -r_1  0  r_1 ... r_{T-1}
Positions randomized_offsets(const Choices& c, const Slots& slots, Rng& rng) {
  const int T = slots.time;
  std::vector<double> offset;
  for (int s = 0; s < slots.sequences; ++s) {
    const std::vector<double> right = subset(T - 1, 1, c.whole("max_position") - 1, !c.on("unsorted"), rng);
    for (int d = T - 2; d >= 0; --d) offset.push_back(-right[size_t(d)]);
    offset.push_back(0);
    offset.insert(offset.end(), right.begin(), right.end());
  }
  return Positions::of_offsets(slots.sequences, std::move(offset));
}

// (N + 1) / (T + 1) = gap
Positions scattered(const Choices& c, const Slots& slots, Rng& rng) {
  const int T = slots.time;
  const double pool = std::round(c.number("gap") * (T + 1)) - 1;
  if (pool > 1 << 24)
    bad_input("scattered: {} slots at a mean gap of {} need a pool of {:.0f} positions; it has at most {}; choose a "
              "smaller gap", T, c["gap"], pool, 1 << 24);
  return draw_each(slots, rng, [&](Rng& r) { return subset(T, c.whole("first"), int(pool), true, r); });
}

Positions log_density(const Choices& c, const Slots& slots, Rng& rng) {
  const int T = slots.time, N = c.whole("max_position");
  return draw_each(slots, rng, [&](Rng& r) {
    const double part = T * std::pow((N + 1.) / T, r.uniform());
    const int pool = std::clamp(int(part), T, N), shift = int(r.below(uint32_t(N - pool + 1)));
    return subset(T, c.whole("first") + shift, pool, true, r);
  });
}

// m runs and N - T free positions in any order: the runs are a subset of these N - T + m items.
Positions blocks(const Choices& c, const Slots& slots, Rng& rng) {
  const int T = slots.time, N = c.whole("max_position"), block = c.whole("block");
  return draw_each(slots, rng, [&](Rng& r) {
    const int first_run = std::min(T, 1 + int(r.below(uint32_t(block))));
    const int runs = 1 + (T - first_run + block - 1) / block;
    const std::vector<double> at = subset(runs, c.whole("first"), N - T + runs, true, r);
    std::vector<double> p;
    for (int i = 0; i < T; ++i) {
      const int run = i < first_run ? 0 : 1 + (i - first_run) / block;
      p.push_back(at[size_t(run)] - run + i);   // i slots precede this item, and `run` of the items are runs
    }
    return p;
  });
}

}  // namespace

// The stages are the doublings in a summary of Randomized YaRN: 8K, 16K, 32K. It does not state how long they last.
Chosen<Sampler> at_step(Chosen<Sampler> s, int64_t step, int slots) {
  if (s->parts) {
    std::vector<Chosen<Sampler>> parts;
    for (const Chosen<Sampler>& part : *s->parts) parts.push_back(at_step(part, step, slots));
    const Chosen<Sampler> layers = in_turn(std::move(parts));
    return s->added ? pair_samplers(at_step(*s->added, step, slots), layers) : layers;
  }
  const int64_t grow = s.choices.has("grow") ? s.choices.whole("grow") : 0;
  if (!grow || step >= grow) return s;
  const int whole = s.choices.whole("max_position"), part = whole >> (2 - 3 * step / grow);
  s.choices.set("max_position", fmt::format("{}", std::min(whole, std::max(part, slots))));
  return s;
}

std::vector<Sampler> subset_samplers() {
  const Option pool = pool_option(), first = first_option();
  const Option unsorted("unsorted", false, "sampled positions in random order (table 3 of the paper)");
  const Option grow("grow", 0, {0, 1 << 30},
                    "training steps in which the pool grows from a quarter to all; 0: none");
  return {
      {.name = "randomized", .summary = "T of the N positions without replacement, in increasing order unless unsorted",
       .about = R"(A random subset of a large pool of positions, in increasing order, resampled for each training
step. The order of the slots stays, and their distances vary. So training sees the positions of
strings that are much longer than its own. With grow=STEPS training begins with a quarter of the
pool and goes on with half of it (Mehta, Yin, Durrett 2026, who do so with YaRN).)",
       .source = "Ruoss et al. 2023", .options = {pool, first, unsorted, grow}, .random = true,
       .as_offsets = "randomized_offsets", .draw = randomized},
      {.name = "randomized_offsets",
       .summary = "one sorted table of random offsets for all pairs; for schemes that read only distances",
       .about = R"(For schemes that read only distances: the table of offsets itself is random. The offset of keys one
slot away is the smallest of a random set, that of keys two slots away the next, and so on; it is
the same for all pairs of slots that are equally far apart. `randomized` means this sampler where
the scheme reads such a table, as alibi does by default.)",
       .source = "Ruoss et al. 2023, released code", .options = {pool, unsorted, grow}, .random = true,
       .only_offsets = true,
       .draw = randomized_offsets},
      {.name = "scattered", .summary = "a random subset with the same mean gap at every length",
       .about = R"(A random subset of a pool that has `gap` positions for each slot, so that neighbours are `gap` apart
on average at every length. With `randomized` longer strings have smaller gaps, because the pool
stays the same; here length and gap can be tested apart.)",
       .source = "poslab, for the gap shift",
       .options = {{"gap", 4., {1, 4096}, "mean gap between neighbours: 1 is contiguous"}, first}, .random = true,
       .draw = scattered},
      {.name = "log_density", .summary = "a random subset of a random part of the pool: all densities from 1 to N/T",
       .about = R"(First a random part of the pool is chosen, its size uniform on a logarithmic scale from the number
of slots to the whole pool; then a random subset of that part. So training sees neighbours at all
mean gaps, from 1 to that of `randomized`, and longer strings at test have gaps that are not new.)",
       .source = "poslab: between SHAPE and Ruoss et al. 2023", .options = {pool, first}, .random = true,
       .draw = log_density},
      {.name = "blocks", .summary = "runs of neighbouring positions, with random gaps between the runs",
       .about = R"(Slots form runs of `block` consecutive positions, with random gaps between the runs. Most
neighbours are one position apart, as in a plain count, while distant slots are as far
apart as in `randomized`. With runs of one slot it is `randomized`.)",
       .source = "poslab: between SHAPE and Ruoss et al. 2023",
       .options = {pool, first, {"block", 8, {1, 1 << 24}, "slots in a run; the first and the last may have fewer"}},
       .random = true, .draw = blocks},
  };
}

}  // namespace poslab
