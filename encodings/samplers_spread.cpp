// Samplers without randomness: the slots in equal steps.
//
//   sequential        i                           stretched         i gap
//   evenly_spread     i (N - 1) / (T - 1)         interpolated      i (trained - 1) / (T - 1), or i if T <= trained
//   clipped           min(i, limit)               float_midpoints   range (2 i + 1) / (2 max(trained, T))
//   given             the i-th number of a list
//
// i counts the slots from 0. float_midpoints is the rule of random float sampling at test (Shimizu et al. 2026), as
// stated in a note on the paper; its positions move once T has passed `trained`, so cached keys would have to move too.
#include <algorithm>

#include "core/error.h"
#include "encodings/samplers.h"

namespace poslab {
namespace {

Positions steps(const Choices& c, double step, int T) {
  return Positions::of_tokens(1, even_steps(c.whole("first"), step, T));
}

Positions sequential(const Choices& c, const Slots& slots, Rng&) { return steps(c, 1, slots.time); }
Positions stretched(const Choices& c, const Slots& slots, Rng&) { return steps(c, c.number("gap"), slots.time); }

// T evenly spaced positions from `first` to `first` + last; the last is exact, because a table may end there.
Positions steps_to(const Choices& c, int last, int T) {
  std::vector<double> p = even_steps(c.whole("first"), T > 1 ? double(last) / (T - 1) : 0, T);
  if (T > 1) p.back() = c.whole("first") + last;
  return Positions::of_tokens(1, std::move(p));
}

Positions evenly_spread(const Choices& c, const Slots& slots, Rng&) {
  return steps_to(c, c.whole("max_position") - 1, slots.time);
}

Positions interpolated(const Choices& c, const Slots& slots, Rng&) {
  const int T = slots.time, trained = c.whole("trained");
  return T > trained ? steps_to(c, trained - 1, T) : steps(c, 1, T);
}

Positions clipped(const Choices& c, const Slots& slots, Rng&) {
  std::vector<double> p = even_steps(c.whole("first"), 1, slots.time);
  for (double& at : p) at = std::min(at, double(c.whole("limit")));
  return Positions::of_tokens(1, std::move(p));
}

Positions float_midpoints(const Choices& c, const Slots& slots, Rng&) {
  const double step = c.number("range") / std::max(c.whole("trained"), slots.time);
  return Positions::of_tokens(1, even_steps(c.whole("first") + step / 2, step, slots.time));
}

Positions given(const Choices& c, const Slots& slots, Rng&) {
  std::vector<double> p = numbers_of(c["at"]);
  p.resize(size_t(slots.time));   // `sample` has checked their number
  return Positions::of_tokens(1, std::move(p));
}

}  // namespace

std::vector<double> numbers_of(const std::string& text) {
  std::vector<double> all;
  std::string words = text;
  std::replace(words.begin(), words.end(), '/', ' ');   // as in other lists of numbers
  for (const std::string& word : split(words, ' ')) {
    if (word.empty()) continue;
    const std::string name = fmt::format("position {}", all.size() + 1);
    all.push_back(read_number(name, word, {-1e9, 1e9}, "-1e9 .. 1e9"));
  }
  return all;
}

std::vector<Sampler> spread_samplers() {
  const Option first = first_option();
  const Option at = Option::text("at", "0 1 2 4 8 16 32 64", "numbers with spaces or / between, or @FILE");
  const Option trained =
      Option::length("trained", "1L", {2, 1 << 24}, "slots of the longest string of training, output included");
  return {
      {.name = "sequential",
       .summary = "0, 1, ..., T-1",
       .about = R"(Positions count the slots: 0, 1, 2, ... Strings longer than those of training have positions that
the model has never seen.)",
       .source = "Vaswani et al. 2017",
       .options = {first},
       .even = true,
       .draw = sequential},
      {.name = "evenly_spread",
       .summary = "i (N-1) / (T-1): the pool in equal steps, nothing random",
       .about = R"(The slots share the whole pool in equal steps: the first has the smallest position, the last the
largest. Nothing is random, and positions need not be whole numbers. Longer strings have smaller
steps and no larger positions.)",
       .source = "asked for by users of Ruoss et al. 2023",
       .options = {pool_option(), first},
       .by_length = true,
       .even = true,
       .draw = evenly_spread},
      {.name = "stretched",
       .summary = "i gap: the same gap between all neighbours, whatever the length",
       .about = R"(Neighbours are `gap` positions apart. The length of the string and the gap are then two things that
can be tested apart: a trained length with gaps that training has not seen, or a new length with the
gaps of training. Below 1 the positions are squeezed together.)",
       .source = "poslab, for the gap shift",
       .options = {{"gap", 2., {0.001, 1 << 20}, "positions from one slot to the next"}, first},
       .even = true,
       .draw = stretched},
      {.name = "interpolated",
       .summary = "i, or in equal steps up to the trained length if there are more slots",
       .about = R"(Strings up to the trained length count 0, 1, 2, ... Longer ones are squeezed in equal steps, so that
the last slot has the largest position of training. No position is new, but the steps get smaller.)",
       .source = "Chen et al. 2023 (position interpolation)",
       .options = {trained, first},
       .by_length = true,
       .even = true,
       .draw = interpolated,
       .unreached = [](const Choices& c, int slots) -> std::string {
         return slots <= c.whole("trained") ? fmt::format("trained = {}", c["trained"]) : "";
       }},
      {.name = "clipped",
       .summary = "min(i, limit): all slots beyond the limit have its position",
       .about = R"(Positions count the slots as far as `limit`; all slots beyond it share that position. No position is
new to the model, but it cannot tell the slots beyond the limit apart.)",
       .source = "clamp_len of Dai et al. 2019, for positions",
       .options = {{"limit", 79, {0, 1 << 24}, "the largest position"}, first},
       .draw = clipped,
       .unreached = [](const Choices& c, int slots) -> std::string {
         return c.whole("first") + slots - 1 <= c.whole("limit") ? fmt::format("limit = {}", c["limit"]) : "";
       }},
      {.name = "float_midpoints",
       .summary = "range (2i+1) / (2 max(trained, T)): the test of random_floats",
       .about = R"(The interval of random_floats is cut into equal parts, with a slot in the middle of each.
Strings up to the trained length have the same steps and fill a part of the interval; longer ones
fill all of it with smaller steps. Nothing is random. It is the published test of random_floats.)",
       .source = "Shimizu, Taniguchi, Matsuo 2026",
       .options = {{"range", 2048., {0.001, 1 << 24}, "length of the interval; 1 in the paper"}, trained, first},
       .by_length = true,
       .even = true,
       .draw = float_midpoints},
      {.name = "given",
       .summary = "a list of your own: each string uses as many as it has slots, from the first on",
       .about = R"(Positions of your own, for the first slot, the second, and so on: written in the spelling itself
with spaces between them, or in a file with white space between them, given:at=@positions.txt. The
run keeps the numbers, not the file's name. The longest string needs a position for each slot.)",
       .source = "yours",
       .options = {at},
       .draw = given},
  };
}

}  // namespace poslab
