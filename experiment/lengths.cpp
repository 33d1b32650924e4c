#include "experiment/lengths.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/error.h"
#include "experiment/build.h"
#include "tasks/curriculum.h"
#include "tasks/task.h"

namespace poslab {

// Whether the next length has the same strings as this one: as many symbols in each of a few draws.
static bool same_strings(const Task& t, int length) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    Rng one({seed}), other({seed});
    if (t.input(one, length).size() != t.input(other, length + 1).size()) return false;
  }
  return true;
}

Lengths trained_lengths(const Choices& c) {
  int longest = c.whole("train_length");
  // Modular Arithmetic has only odd lengths: length 6 has the strings of length 5.
  if (c.has("task") && !c["task"].empty())
    longest += same_strings(task(c["task"]), longest);
  const bool one = c.has("curriculum") && find("curriculum", all_curricula(), c["curriculum"]).longest_alone;
  return {one ? longest : 1, longest};
}

std::string in_words(const Lengths& l) {
  return l.from == l.to ? fmt::format("length {}", l.to) : fmt::format("lengths {} to {}", l.from, l.to);
}

std::string after_origin(const Choices& c) {
  return c["from"].empty() ? "" : fmt::format(", after the training of {}", c["from"]);
}

std::string familiarity(const Choices& c, int length) {
  const Lengths trained = trained_lengths(c);
  if (trained.from <= length && length <= trained.to) return "trained";
  return c["from"].empty() ? "unseen" : "unseen in this run";
}

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
      bad_input("{}: length {} comes twice; name it once", command, length);
    if (slots(c, length) > max_slots)
      bad_input(
          "{}: length {} of {} takes {} slots, but this run has positions for {}; ask for a shorter one", command,
          length, c["task"], slots(c, length), max_slots);
  }
}

}  // namespace poslab
