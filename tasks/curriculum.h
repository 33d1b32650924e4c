// The length of the strings in a training step, one for the whole batch, drawn from (seed, step) alone.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

namespace poslab {

struct CurriculumSpec {
  std::string name = "uniform";    // uniform on 1 .. longest | fixed | increasing | reverse_exponential
  int longest = 40;
  int64_t steps = 10001;           // steps of the whole run, for curricula that change over time
};
int training_length(const CurriculumSpec&, uint64_t seed, int64_t step);
struct Curriculum { std::string name, summary; bool longest_alone = false; };
const std::vector<Curriculum>& all_curricula();

}  // namespace poslab
