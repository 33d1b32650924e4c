// Helpers for all families of samplers. Each family is a file encodings/samplers_FAMILY.cpp with a list of its own;
// encodings/samplers.cpp joins them.
#pragma once
#include "encodings/sampler.h"

namespace poslab {

std::vector<Sampler> spread_samplers();    // nothing random: counted, stretched, squeezed
std::vector<Sampler> subset_samplers();    // random subsets of a pool
std::vector<Sampler> shifted_samplers();   // runs that are shifted, jittered or scaled; random floats
std::vector<Sampler> segment_samplers();   // numbers that start again in each run of tokens of a class

// Options of several families.
Option pool_option(), first_option();

// The sampler at a step of training, counted from 0, for `slots` slots: with `grow` it uses part of its pool.
Chosen<Sampler> at_step(Chosen<Sampler>, int64_t step, int slots);

// The remedy if more than pool_of(s) positions are needed.
inline std::string more_positions(const Chosen<Sampler>& s) {
  return s.spelled().find(":at=") == std::string::npos ? "raise its max_position" : "add to its list";
}

// n of the numbers low .. low + pool - 1, every subset equally likely; in random order unless sorted.
std::vector<double> subset(int n, int low, int pool, bool sorted, Rng&);

// one(rng) draws the positions of one sequence; it is called for each.
template <class One>
Positions draw_each(const Slots& slots, Rng& rng, const One& one) {
  std::vector<double> all;
  for (int s = 0; s < slots.sequences; ++s) {
    const std::vector<double> p = one(rng);
    all.insert(all.end(), p.begin(), p.end());
  }
  return Positions::of_tokens(slots.sequences, std::move(all));
}

// first + step i for T slots
inline std::vector<double> even_steps(double first, double step, int T) {
  std::vector<double> p;
  for (int i = 0; i < T; ++i) p.push_back(first + i * step);
  return p;
}

}  // namespace poslab
