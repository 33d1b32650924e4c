// Random shifts, jitter and scale of counted slots, and random floats. U is uniform, i counts the slots from 0:
//
//   contiguous      i + k                                  k of 0 .. min(max_shift, N - T)
//   pose            i for i < l, then i + u                l of 1 .. floor((T + 1) / 2), u of 0 .. N - T
//   cape            (i - mean + g + e_i) exp(s)            g, e_i, s of U(-max, max)
//   random_floats   T numbers of U(0, range), sorted
//
// The distributions of pose and cape follow the released code of PoSE and public code for CAPE.
#include <algorithm>
#include <cmath>

#include "encodings/samplers.h"

namespace poslab {
namespace {

Positions contiguous(const Choices& c, const Slots& slots, Rng& rng) {
  const int furthest = std::min(c.whole("max_shift"), c.whole("max_position") - slots.time);
  return draw_each(slots, rng, [&](Rng& r) {
    return even_steps(c.whole("first") + double(r.below(uint32_t(furthest + 1))), 1, slots.time);
  });
}

Positions pose(const Choices& c, const Slots& slots, Rng& rng) {
  const int T = slots.time, free = c.whole("max_position") - T;
  return draw_each(slots, rng, [&](Rng& r) {
    const int length = 1 + int(r.below(uint32_t((T + 1) / 2)));
    const int shift = c.on("shifted") ? int(r.below(uint32_t(free + 1))) : 0;
    const int skip = shift + int(r.below(uint32_t(free - shift + 1)));
    std::vector<double> p = even_steps(c.whole("first"), 1, T);
    for (int i = 0; i < T; ++i) p[size_t(i)] += i < length ? shift : skip;
    return p;
  });
}

Positions cape(const Choices& c, const Slots& slots, Rng& rng) {
  const int T = slots.time;
  return draw_each(slots, rng, [&](Rng& r) {
    const auto within = [&](double most) { return most * (2 * r.uniform() - 1); };
    const double shift = within(c.number("global")), scale = std::exp(within(std::log(c.number("scale"))));
    std::vector<double> p = even_steps(c.on("centred") ? -(T - 1) / 2. : 0, 1, T);
    for (double& at : p) at = (at + shift + within(c.number("local"))) * scale;
    return p;
  });
}

Positions random_floats(const Choices& c, const Slots& slots, Rng& rng) {
  return draw_each(slots, rng, [&](Rng& r) {
    std::vector<double> p(size_t(slots.time), 0.);
    for (double& at : p) at = c.whole("first") + c.number("range") * r.uniform();
    std::sort(p.begin(), p.end());
    return p;
  });
}

}  // namespace

std::vector<Sampler> shifted_samplers() {
  const Option pool = pool_option(), first = first_option();
  return {
      {.name = "contiguous", .summary = "k, k+1, ..., k+T-1 from a random start k in the pool",
       .about = R"(Positions count the slots from a random start. Distances are those of the plain count; only the
start is random, so that a model cannot rely on absolute positions. Known as SHAPE.)",
       .source = "Kiyono et al. 2021",
       .options = {pool, first, {"max_shift", 1 << 24, {0, 1 << 24}, "largest start, if the pool has room for more"}},
       .random = true, .even = true, .shifts = true, .draw = contiguous},
      {.name = "pose", .summary = "two runs of neighbouring positions with one random skip between them",
       .about = R"(The string is split in two runs: the first, at most half of the slots (rounded up), counts from 0;
the second counts on after one random skip within the target length. So short strings have the
positions of long ones, and each run looks like a plain count. The pool is the target length.)",
       .source = "Zhu et al. 2024",
       .options = {pool, first, {"shifted", false, "the first run starts at random too, as in earlier code"}},
       .random = true, .draw = pose},
      {.name = "cape", .summary = "counted from the middle, shifted, jittered and scaled at random",
       .about = R"(Positions count the slots from the middle of the string. Then all are shifted by one random number,
each is moved a little by its own, and all are scaled by one factor, uniform on a logarithmic
scale. Positions are real numbers, half of them negative, in the order of the slots.)",
       .source = "Likhomanenko et al. 2021",
       .options = {{"global", 5., {0, 1 << 20}, "largest shift of the string to either side"},
                   {"local", 0.5, {0, 0.5}, "largest shift of a slot to either side: 0.5 keeps the order"},
                   {"scale", 1.03, {1, 1000}, "largest factor; the smallest is 1 / scale"},
                   {"centred", true, "counted from the middle of the string, not from its first slot"}},
       .random = true, .draw = cape},
      {.name = "random_floats", .summary = "T random real numbers from an interval, sorted",
       .about = R"(Each slot gets a random real number from an interval, in increasing order. Unlike a subset of whole
numbers, two may be as close as one likes, so that training has seen gaps as small as any at test.
float_midpoints is the published test.)",
       .source = "Shimizu, Taniguchi, Matsuo 2026",
       .options = {{"range", 2048., {0.001, 1 << 24}, "length of the interval; 1 in the paper"}, first},
       .random = true, .draw = random_floats},
  };
}

}  // namespace poslab
