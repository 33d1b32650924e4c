// The list of samplers. All numbers come from the rng that the caller made for this draw.
// Left out: offsets drawn for both sides apart (randomize_both_sides of the released code).
#include <algorithm>

#include "core/error.h"
#include "core/names.h"
#include "encodings/positions.h"

namespace poslab {
namespace {

void check_sizes(const char* name, const SamplerSpec& spec, int sequences, int time) {
  if (sequences < 1 || time < 1) bad_input("{}: {} sequences of {} slots; both are at least 1", name, sequences, time);
  if (time > spec.max_position)
    bad_input("{}: {} slots (input and output) but only {} positions; raise max_position", name, time,
              spec.max_position);
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

Positions sequential(const SamplerSpec& spec, int sequences, int time, Rng&) {
  if (sequences < 1 || time < 1)
    bad_input("sequential: {} sequences of {} slots; both are at least 1", sequences, time);
  std::vector<double> p;
  for (int i = 0; i < time; ++i) p.push_back(spec.first + i);
  return Positions::of_tokens(1, std::move(p));
}

Positions randomized(const SamplerSpec& spec, int sequences, int time, Rng& rng) {
  check_sizes("randomized", spec, sequences, time);
  std::vector<double> p;
  for (int s = 0; s < sequences; ++s) {
    const std::vector<double> one = subset(time, spec.first, spec.max_position, spec.sorted, rng);
    p.insert(p.end(), one.begin(), one.end());
  }
  return Positions::of_tokens(sequences, std::move(p));
}

// r_1 < ... < r_{T-1} of 1 .. N-1:      -r_{T-1} ... -r_1  0  r_1 ... r_{T-1}
Positions randomized_offsets(const SamplerSpec& spec, int sequences, int time, Rng& rng) {
  check_sizes("randomized_offsets", spec, sequences, time);
  std::vector<double> offset;
  for (int s = 0; s < sequences; ++s) {
    const std::vector<double> right = subset(time - 1, 1, spec.max_position - 1, spec.sorted, rng);
    for (int d = time - 2; d >= 0; --d) offset.push_back(-right[size_t(d)]);
    offset.push_back(0);
    offset.insert(offset.end(), right.begin(), right.end());
  }
  return Positions::of_offsets(sequences, std::move(offset));
}

// From the first to the last position of the pool in equal steps, which need not be whole numbers.
Positions evenly_spread(const SamplerSpec& spec, int sequences, int time, Rng&) {
  check_sizes("evenly_spread", spec, sequences, time);
  const double step = time > 1 ? double(spec.max_position - 1) / (time - 1) : 0;
  std::vector<double> p;
  for (int i = 0; i < time; ++i) p.push_back(spec.first + i * step);
  return Positions::of_tokens(1, std::move(p));
}

}  // namespace

const std::vector<Sampler>& all_samplers() {
  static const std::vector<Sampler> list = {
      {"sequential", "0, 1, ..., T-1", "Vaswani et al. 2017", false, sequential},
      {"randomized", "T of the N positions without replacement, in increasing order unless unsorted",
       "Ruoss et al. 2023", true, randomized},
      {"randomized_offsets", "one sorted table of random offsets for all pairs; for schemes that read only distances",
       "Ruoss et al. 2023, released code", true, randomized_offsets},
      {"evenly_spread", "i (N-1) / (T-1): the pool in equal steps, nothing random",
       "asked for by users of Ruoss et al. 2023", false, evenly_spread},
  };
  return list;
}

const Sampler& sampler(const std::string& name) {
  std::vector<std::string> names;
  for (const Sampler& s : all_samplers()) {
    if (s.name == name) return s;
    names.push_back(s.name);
  }
  throw BadInput(unknown("sampler", name, names));
}

}  // namespace poslab
