#include "experiment/lengths.h"

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "experiment/build.h"

namespace poslab {

std::vector<int> paper_lengths(const RunSpec& c) { return {c.whole("train_length"), c.whole("train_length") * 15 / 4}; }

std::vector<int> every_length(const Choices& c) {
  const auto [from, to] = c.lengths("eval_lengths");
  std::vector<int> all(size_t(to - from + 1));
  std::iota(all.begin(), all.end(), from);
  return all;
}

void check_lengths(const RunSpec& c, const std::vector<int>& lengths, const std::string& command) {
  const int max_slots = room(c, test_sampler(c));
  if (lengths.empty()) bad_input("{}: at which lengths? Give at least one", command);
  for (const int length : lengths) {
    if (length < 1 || length > int(option("eval_lengths").range.max))
      bad_input("{}: strings of length {}; ask for 1 to {:.0f}", command, length, option("eval_lengths").range.max);
    if (std::count(lengths.begin(), lengths.end(), length) > 1)
      bad_input("{}: length {} is asked for twice", command, length);
    if (slots(c, length) > max_slots)
      bad_input(
          "{}: length {} of {} takes {} slots, and this run has positions for max_position = {}; ask for less", command,
          length, c["task"], slots(c, length), max_slots);
  }
}

}  // namespace poslab
