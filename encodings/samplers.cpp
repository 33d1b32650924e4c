// The list of samplers. All numbers come from the rng that the caller made for this draw.
// Left out: offsets drawn for both sides apart (randomize_both_sides of the released code).
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "core/error.h"
#include "encodings/positions.h"

namespace poslab {
namespace {

void check_sizes(const char* name, const Choices& c, int sequences, int time) {
  if (sequences < 1 || time < 1) bad_input("{}: {} sequences of {} slots; both are at least 1", name, sequences, time);
  if (const int pool = c.whole("max_position"); time > pool)
    bad_input("{}: {} slots (input and output) but only {} positions; raise max_position", name, time, pool);
}

// n of the numbers low .. low + pool - 1, every subset equally likely: Floyd's algorithm (Bentley & Floyd 1987), which
// draws n numbers where a shuffle of the pool draws them all.
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

Positions sequential(const Choices& c, int sequences, int time, Rng&) {
  if (sequences < 1 || time < 1)
    bad_input("sequential: {} sequences of {} slots; both are at least 1", sequences, time);
  std::vector<double> p;
  for (int i = 0; i < time; ++i) p.push_back(c.whole("first") + i);
  return Positions::of_tokens(1, std::move(p));
}

Positions randomized(const Choices& c, int sequences, int time, Rng& rng) {
  check_sizes("randomized", c, sequences, time);
  std::vector<double> p;
  for (int s = 0; s < sequences; ++s) {
    const std::vector<double> one = subset(time, c.whole("first"), c.whole("max_position"), !c.on("unsorted"), rng);
    p.insert(p.end(), one.begin(), one.end());
  }
  return Positions::of_tokens(sequences, std::move(p));
}

// r_1 < ... < r_{T-1} of 1 .. N-1:      -r_{T-1} ... -r_1  0  r_1 ... r_{T-1}
Positions randomized_offsets(const Choices& c, int sequences, int time, Rng& rng) {
  check_sizes("randomized_offsets", c, sequences, time);
  std::vector<double> offset;
  for (int s = 0; s < sequences; ++s) {
    const std::vector<double> right = subset(time - 1, 1, c.whole("max_position") - 1, !c.on("unsorted"), rng);
    for (int d = time - 2; d >= 0; --d) offset.push_back(-right[size_t(d)]);
    offset.push_back(0);
    offset.insert(offset.end(), right.begin(), right.end());
  }
  return Positions::of_offsets(sequences, std::move(offset));
}

// From the first to the last position of the pool in equal steps, which need not be whole numbers.
Positions evenly_spread(const Choices& c, int sequences, int time, Rng&) {
  check_sizes("evenly_spread", c, sequences, time);
  const double step = time > 1 ? double(c.whole("max_position") - 1) / (time - 1) : 0;
  std::vector<double> p;
  for (int i = 0; i < time; ++i) p.push_back(c.whole("first") + i * step);
  return Positions::of_tokens(1, std::move(p));
}

}  // namespace

const std::vector<Sampler>& all_samplers() {
  const Option pool("max_position", 2048, {1, 1 << 24}, "size of the pool of positions, rows of the learned table",
                    "max_position");
  const Option first("first", 0, {0, 1}, "smallest position of the pool: 0 in the released code, 1 in the paper",
                     "first_position");
  Option unsorted("unsorted", false, "sampled positions in random order (table 3 of the paper)", "unsorted");
  unsorted.words = {"sorted", "unsorted"};
  static const std::vector<Sampler> list = {
      {.name = "sequential", .summary = "0, 1, ..., T-1",
       .about = R"(Positions count the slots: 0, 1, 2, ... Strings longer than those of training have positions that
the model has never met.)",
       .source = "Vaswani et al. 2017", .options = {first},
       .sample = sequential},
      {.name = "randomized", .summary = "T of the N positions without replacement, in increasing order unless unsorted",
       .about = R"(A random subset of a large pool of positions, in increasing order, drawn anew for each training
step. The order of the slots stays, and their distances vary. So training meets the positions of
strings that are much longer than its own.)",
       .source = "Ruoss et al. 2023", .options = {pool, first, unsorted}, .random = true,
       .as_offsets = "randomized_offsets", .sample = randomized},
      {.name = "randomized_offsets",
       .summary = "one sorted table of random offsets for all pairs; for schemes that read only distances",
       .about = R"(For schemes that read only distances: the table of offsets itself is random. The offset of keys one
slot away is the smallest of a random set, that of keys two slots away the next, and so on; it is
the same for all pairs of slots that are equally far apart. `randomized` means this sampler where
the scheme reads such a table, as alibi does by default.)",
       .source = "Ruoss et al. 2023, released code", .options = {pool, unsorted}, .random = true, .only_offsets = true,
       .sample = randomized_offsets},
      {.name = "evenly_spread", .summary = "i (N-1) / (T-1): the pool in equal steps, nothing random",
       .about = R"(The slots share the whole pool in equal steps: the first has the smallest position, the last the
largest. Nothing is random, and positions need not be whole numbers. Longer strings have smaller
steps and no larger positions.)",
       .source = "asked for by users of Ruoss et al. 2023", .options = {pool, first}, .sample = evenly_spread},
  };
  return list;
}

Chosen<Sampler> choose_sampler(const std::string& text, const RunValues& run) {
  if (text.find('|') == std::string::npos) return choose("sampler", all_samplers(), text, run);
  std::vector<Chosen<Sampler>> parts;
  for (const std::string& part : split(text, '|')) parts.push_back(choose("sampler", all_samplers(), part, run));
  return in_turn(std::move(parts));
}

Chosen<Sampler> in_turn(std::vector<Chosen<Sampler>> parts) {
  Sampler s{.summary = "a sampler for each layer, in turn", .source = "its parts"};
  std::vector<std::string> names;
  for (const Chosen<Sampler>& part : parts) {
    names.push_back(part.spelled());
    s.random = s.random || part->random, s.only_offsets = s.only_offsets || part->only_offsets;
    s.options.insert(s.options.end(), part->options.begin(), part->options.end());
  }
  s.name = fmt::format("{}", fmt::join(names, "|"));
  s.parts = std::make_shared<const std::vector<Chosen<Sampler>>>(std::move(parts));
  return {s, {}};
}

int pool_of(const Chosen<Sampler>& s) {
  int pool = std::numeric_limits<int>::max();
  if (s->parts)
    for (const Chosen<Sampler>& part : *s->parts) pool = std::min(pool, pool_of(part));
  return s.choices.has("max_position") ? s.choices.whole("max_position") : pool;
}

}  // namespace poslab
