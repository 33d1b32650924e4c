// Numbers that start again in each segment. A segment is a longest run of tokens of one class: digits, other symbols of
// the input, empty slots of the answer. With a = index in the segment and b = index from its end, both from 0:
//
//   restart   a
//   abacus    k + 1 + a for digits and empty slots, 0 for other symbols; one k of 0 .. shift for all
//   coupled   s_a; with two_ended s_a s_b; with dyadic also s_{a/2} s_{b/2} (rounded down) and a mod 2
//
// s is a random subset of the pool, drawn once for all segments and numbers: equal indices get equal numbers in every
// segment, which is all that a copy has to find. In abacus the empty slots count as a number: the answer.
#include <algorithm>

#include "encodings/samplers.h"

namespace poslab {
namespace {

struct Place { TokenClass of; int from_start, from_end; };

std::vector<Place> places(const int* classes, int T) {
  std::vector<Place> all;
  for (int start = 0, end = 0; start < T; start = end) {
    while (end < T && classes[end] == classes[start]) ++end;
    for (int i = start; i < end; ++i) all.push_back({TokenClass(classes[start]), i - start, end - 1 - i});
  }
  return all;
}

// number(place, draw) gives the K numbers of a token; draw(rng) makes the random part, once for all or for each
// sequence. Sequences with equal segments share one row if it is made once.
template <class Draw, class Number>
Positions by_segment(const Slots& slots, Rng& rng, int channels, const Draw& draw, const Number& number) {
  const int T = slots.time, B = slots.classes ? slots.classes.shape()[0] : 1;
  const auto digits = std::vector<int>(size_t(T), int(TokenClass::digit));
  const auto classes = [&](int b) { return slots.classes ? slots.classes.data() + int64_t(b) * T : digits.data(); };
  bool alike = slots.sequences == 1;
  for (int b = 1; b < B; ++b) alike = alike && std::equal(classes(b), classes(b) + T, classes(0));
  const int rows = alike ? 1 : std::max(B, slots.sequences);
  std::vector<double> ids;
  auto drawn = draw(rng);
  for (int row = 0; row < rows; ++row) {
    if (row > 0 && slots.sequences > 1) drawn = draw(rng);
    for (const Place& at : places(classes(B == 1 ? 0 : row), T)) {
      const std::vector<double> numbers = number(at, drawn);
      ids.insert(ids.end(), numbers.begin(), numbers.end());
    }
  }
  return Positions::of_ids(rows, channels, std::move(ids));
}

using Numbers = std::vector<double>;

Positions restart(const Choices& c, const Slots& slots, Rng& rng) {
  return by_segment(slots, rng, 1, [](Rng&) { return 0; }, [first = c.whole("first")](const Place& at, int) {
    return Numbers{double(first + at.from_start)};
  });
}

Positions abacus(const Choices& c, const Slots& slots, Rng& rng) {
  const auto shift = [most = c.whole("shift")](Rng& r) { return int(r.below(uint32_t(most + 1))); };
  return by_segment(slots, rng, 1, shift, [first = c.whole("first")](const Place& at, int k) {
    return Numbers{double(first + (at.of == TokenClass::sign ? 0 : k + 1 + at.from_start))};
  });
}

Positions coupled(const Choices& c, const Slots& slots, Rng& rng) {
  const bool dyadic = c.on("dyadic"), two_ended = c.on("two_ended") || dyadic;
  const auto codes = [&](Rng& r) {
    return subset(slots.time, c.whole("first"), c.whole("max_position"), !c.on("shuffled"), r);
  };
  return by_segment(slots, rng, dyadic ? 5 : two_ended ? 2 : 1, codes, [&](const Place& at, const Numbers& s) {
    Numbers n{s[size_t(at.from_start)]};
    if (two_ended) n.push_back(s[size_t(at.from_end)]);
    if (dyadic)
      n.insert(n.end(), {s[size_t(at.from_start / 2)], s[size_t(at.from_end / 2)],
                         double(c.whole("first") + at.from_start % 2)});
    return n;
  });
}

}  // namespace

std::vector<Sampler> segment_samplers() {
  const Option pool = pool_option(), first = first_option();
  return {
      {.name = "restart", .summary = "0, 1, 2, ... again in each run of digits, of signs, of empty slots",
       .about = R"(Positions start again in each segment: the digits of a number, the signs between two numbers, the
empty slots of the answer. So the first digit of each number and the first slot of the answer have
the same position. It is position coupling for strings that line up from their starts.)",
       .source = "Cho et al. 2024 (position coupling)", .options = {first}, .reads_classes = true, .draw = restart},
      {.name = "abacus", .summary = "the place of a digit in its number, with one random shift; 0 for other symbols",
       .about = R"(Each digit has its place in its number, from 1, plus one random number for the whole string, so that
training sees the places of longer numbers; all other symbols have 0. The empty slots of the
answer count as a number. Test it without the shift: abacus:shift=0.)",
       .source = "McLeish et al. 2024",
       .options = {{"shift", 99, {0, 1 << 20}, "the largest random number that is added; 0 at test"}, first},
       .random = true, .reads_classes = true, .draw = abacus},
      {.name = "coupled", .summary = "random numbers for the places in a segment, from both ends if two_ended",
       .about = R"(Each place in a segment has a random number, the same one in all segments. So tokens at equal
places carry equal numbers, and all others differ. A token can have more numbers, counted from both
ends (two_ended) and by twos (dyadic), which reversing, copying and sorting by parity need.)",
       .source = "poslab; Cho et al. 2024, McLeish et al. 2024",
       .options = {pool,
                   first,
                   {"two_ended", false, "a second number, for the place counted from the end of the segment"},
                   {"dyadic", false, "five numbers: places from both ends, both halved, and whether the place is odd"},
                   {"shuffled", false, "numbers in random order; otherwise they increase with the place"}},
       .random = true, .reads_classes = true, .draw = coupled},
  };
}

}  // namespace poslab
