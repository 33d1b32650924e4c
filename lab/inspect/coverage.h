// The paper's own explanation, as numbers: which positions (schemes that add to the embedding) or distances (all others)
// training meets, and which the tests meet. A function of the configuration alone; no weights are read.
#pragma once
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "lab/config.h"

namespace poslab {

// How often each value occurred: of the slots that carry this position, or of the pairs (query, key) that attention may
// use and that are this far apart (position of the key minus that of the query). Rounded to whole numbers, which only
// evenly_spread needs.
using Counts = std::map<int, int64_t>;

struct Coverage {
  bool distances;            // else positions
  int64_t steps;             // of training, from its first on, whose draws are counted
  Counts trained;
  struct Test {
    int length;              // of the input
    Counts met;              // in 64 draws, or in one if nothing is random
    double seen;             // share of the slots or pairs whose value was met in those training steps
  };
  std::vector<Test> tests;
};

// The lengths and positions that training itself draws in its first `steps` steps, or in all of them if it has fewer.
// BadInput as pca().
Coverage coverage(const Config&, const std::vector<int>& lengths, int64_t steps = 2000);

extern const char* const coverage_csv_header;  // run,kind,met_in,value,count,share
std::string coverage_csv(const std::string& run, const Coverage&);

}  // namespace poslab
