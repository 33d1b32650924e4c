#include "experiment/lengths.h"

#include <algorithm>

#include "core/error.h"
#include "experiment/build.h"

namespace poslab {

std::vector<int> paper_lengths(const Config& c) { return {c.train_length, c.train_length * 15 / 4}; }

void check_lengths(const Config& c, const std::vector<int>& lengths) {
  const int max_slots = room(c, test_sampler(c));
  if (lengths.empty()) bad_input("inspect: at which lengths? Give at least one");
  for (const int length : lengths) {
    if (length < 1 || length > int(option("eval_lengths").max))
      bad_input("inspect: strings of length {}; ask for 1 to {:.0f}", length, option("eval_lengths").max);
    if (std::count(lengths.begin(), lengths.end(), length) > 1)
      bad_input("inspect: length {} is asked for twice", length);
    if (slots(c, length) > max_slots)
      bad_input(
          "inspect: length {} of {} takes {} slots, and this run has positions for max_position = {}; ask for less",
          length, c.task, slots(c, length), max_slots);
  }
}

}  // namespace poslab
