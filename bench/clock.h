// Measures seconds.
#pragma once
#include <algorithm>
#include <chrono>

namespace poslab {

inline double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

template <class Run>
double timed(const Run& run) {
  const auto start = std::chrono::steady_clock::now();
  run();
  return seconds_since(start);
}

// The shortest of at least 5 runs, and of as many more as fit into the given seconds: other work on the machine only
// adds time.
template <class Run>
double fastest(double seconds, const Run& run) {
  double best = 1e9;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 5 || seconds_since(start) < seconds; ++i) best = std::min(best, timed(run));
  return best;
}

}  // namespace poslab
