// The paper's own explanation, as numbers: which positions (schemes that add to the embedding) or distances (all
// others) training meets, and which the tests meet. A function of the configuration alone; no weights are read.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "encodings/encoding.h"
#include "experiment/config.h"

namespace poslab {

// How often each value occurred: of the slots that carry this position, or of the pairs (query, key) of different slots
// that attention may use and that are this far apart (position of the key minus that of the query). Rounded to whole
// numbers, which only evenly_spread needs.
using Histogram = std::map<int, int64_t>;

struct Coverage {
  // positions, if they are added to the embedding, else distances; nothing for a scheme that reads neither
  Reads counted;
  int64_t steps;  // of training, whose draws are counted
  bool rounded;   // some values were not whole numbers
  Histogram trained;
  struct Test {
    int length;     // of the input
    Histogram met;  // in 64 draws, or in one if nothing is random
    double seen;    // share of the slots or pairs whose value was met in those steps; NaN if nothing is counted
  };
  std::vector<Test> tests;
};

// Positions that training itself has drawn in its first `done` steps: in 2000 of them, evenly spread, or in all if few.
// BadInput as pca().
Coverage coverage(const RunSpec&, const std::vector<int>& lengths, int64_t done);
inline Coverage coverage(const RunSpec& c, const std::vector<int>& lengths) {
  return coverage(c, lengths, c.count("steps"));
}

// Draws the positions of a model, whatever it is trained on.
struct Draws {
  Chosen<Scheme> scheme;
  bool causal;
  int64_t done;  // steps of training
  std::function<PositionSample(int64_t step)> training;
  std::function<PositionSample(int length, int n)> test;
  int training_layers = 1, test_layers = 1;  // that have positions of their own
  int test_draws = 1;                        // at each length
};
// The same, where something else than a RunSpec draws positions.
Coverage coverage(const Draws&, const std::vector<int>& lengths);

// The same of positions, distances or gaps, whether the scheme reads them or not. A gap is the position of a slot minus
// that of the slot before it. Positions and gaps need a sampler that gives each token a position; BadInput for one of
// offsets.
enum class Met { positions, distances, gaps };
Coverage coverage(Met, const RunSpec&, const std::vector<int>& lengths, int64_t done);
inline Coverage gaps(const RunSpec& c, const std::vector<int>& lengths) {
  return coverage(Met::gaps, c, lengths, c.count("steps"));
}
// The overlap of two distributions: of each value the smaller of its two shares, summed up; from 0 to 1.
double in_common(const Histogram&, const Histogram&);

}  // namespace poslab
