// The paper's own explanation, as numbers: the positions (for schemes that add to the embedding) or distances (for all
// others) that occur in training, and in tests. A function of the configuration alone; no weights are read.
#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "encodings/encoding.h"
#include "experiment/config.h"

namespace poslab {

// The count of each value: how many slots have this position, or how many visible pairs (query, key) of different slots
// have this distance (position of the key minus that of the query). Values are rounded to whole numbers
// (Coverage::rounded).
using Histogram = std::map<int, int64_t>;

struct Coverage {
  // positions, if they are added to the embedding, else distances; empty for a scheme that reads neither
  Reads counted;
  int64_t steps;  // steps of training whose draws are counted
  bool rounded;   // some values were not whole numbers
  Histogram trained;
  struct Test {
    int length;     // of the input
    Histogram met;  // in 64 draws, or in one if nothing is random
    double seen;    // share of the slots or pairs whose value occurred in those steps; NaN if nothing is counted
  };
  std::vector<Test> tests;
};

// Counts the positions that training drew in its first `done` steps: in 2000 of them, evenly spread, or in all if
// there are fewer. Throws BadInput as pca() does.
Coverage coverage(const RunSpec&, const std::vector<int>& lengths, int64_t done);
inline Coverage coverage(const RunSpec& c, const std::vector<int>& lengths) {
  return coverage(c, lengths, c.count("steps"));
}

// Draws the positions of any model.
struct Draws {
  Chosen<Scheme> scheme;
  bool causal;
  int64_t done;  // steps of training
  std::function<PositionSample(int64_t step)> training;
  std::function<PositionSample(int length, int n)> test;
  int training_layers = 1, test_layers = 1;  // layers with positions of their own
  int test_draws = 1;                        // at each length
};
// The same, for positions that a RunSpec does not draw.
Coverage coverage(const Draws&, const std::vector<int>& lengths);

// The coverage of positions, distances or gaps, whether the scheme reads them or not. A gap is the position of a slot
// minus that of the slot before it. Positions and gaps need a sampler that gives each token a position: throws
// BadInput for a sampler of offsets.
enum class Met { positions, distances, gaps };
Coverage coverage(Met, const RunSpec&, const std::vector<int>& lengths, int64_t done);
inline Coverage gaps(const RunSpec& c, const std::vector<int>& lengths) {
  return coverage(Met::gaps, c, lengths, c.count("steps"));
}
// The overlap of two distributions, the sum over values of the smaller share; from 0 to 1.
double in_common(const Histogram&, const Histogram&);

}  // namespace poslab
