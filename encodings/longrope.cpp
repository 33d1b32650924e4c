// LongRoPE (Ding et al. 2024): a factor for each pair of channels, which a search finds.
//
//   f_m = base^(-2m/D) / long_m with more than L slots, else base^(-2m/D) / short_m
//   s_ij times 1 + ln factor / ln L; released models multiply cosines and sines by its root
//   fraction: the first R = fraction D channels turn, as a head of R (Phi-4-mini); the factor is on their part of s_ij
// Left out: the search, and unchanged positions for the first tokens. The defaults are not published lists.
#include <algorithm>
#include <cmath>

#include "encodings/rotary.h"

namespace poslab {
namespace {

// Entry m of `pairs` entries spread evenly over the list: the list itself if it has this length.
double at(const std::vector<double>& list, size_t m, size_t pairs) {
  if (list.size() == 1 || pairs == 1) return list[0];
  const double place = double(m) * double(list.size() - 1) / double(pairs - 1);
  const size_t below = std::min(size_t(place), list.size() - 2);
  return list[below] + (place - double(below)) * (list[below + 1] - list[below]);
}

double factor_of(const Choices& c) {
  const double said = c.number("attention");
  return said != 0 ? said * said : 1 + std::log(c.number("factor")) / std::log(c.number("length"));
}

int channels_turning(int channels, const Choices& c) {   // as in partial_rope
  const int pairs = channels / 2;
  return 2 * std::max(1, int(c.number("fraction") * pairs));
}

RotarySpectrum by_list(const HeadAt& t, const Choices& c) {
  const std::vector<double> list = c.numbers(t.slots > c.whole("length") ? "long" : "short");
  const int turning = channels_turning(t.channels, c);
  std::vector<double> f = frequencies_of({turning, t.heads, t.head, t.slots}, c);
  for (size_t m = 0; m < f.size(); ++m) f[m] /= at(list, m, f.size());
  return {f, turning == t.channels ? factor_of(c) : 1};
}

// In partly rotated heads the factor is on the rotated channels' part of a logit: q and k have its root there.
class InPart : public Rotary {
 public:
  InPart(const ModelShape& m, const Choices& c)
      : Rotary(c.spelled(), pairing_of(c),
               [=](int slots) {
                 return std::vector<Group>{{by_list({m.head_dim(), m.heads, 0, slots}, c), m.heads}};
               }),
        turning_(channels_turning(m.head_dim(), c)),
        root_(std::sqrt(factor_of(c))) {}
  Scores scores(const Heads& in, const Positions& p) const override {
    Scores s = Rotary::scores(in, p);
    for (Tensor* x : {&s.pieces[0].q, &s.pieces[0].k})
      *x = concat({slice(*x, 3, 0, turning_) * root_, slice(*x, 3, turning_, x->dim(3))}, 3);
    return s;
  }

 private:
  int turning_;
  double root_;
};

}  // namespace

extern const SchemePages longrope_pages;
Scheme longrope() {
  const Range factors{1e-3, 1e6};
  Scheme s = rotary_scheme(
      {.name = "longrope",
       .options = {Option::numbers("long", "1/8", factors, "factors beyond the trained length"),
                   Option::numbers("short", "1", factors, "factors up to the trained length"),
                   {"factor", 8., {1, 1e6}, "factor on the logits; 1: unchanged"},
                   {"attention", 0., {0, 1000}, "its square multiplies logits, whatever factor is; 0: factor decides"},
                   {"fraction", 1., {0, 1}, "share of pairs that turn, rounded down, but at least one"},
                   length_option(2), rope_base(), pairing_option()},
       .pages = longrope_pages},
      by_list, always(true));
  s.make = [whole = s.make](const LayerParams& p, const ModelShape& m, const Choices& c,
                            int layer) -> std::unique_ptr<Encoding> {
    if (channels_turning(m.head_dim(), c) == m.head_dim()) return whole(p, m, c, layer);
    return std::make_unique<InPart>(m, c);
  };
  return s;
}

// -- for pages
const SchemePages longrope_pages = {
    .summary = "RoPE with a factor of its own for each pair, one list for short and one for long inputs",
    .about = R"(Each pair of channels is slowed by a factor of its own: one list for inputs up to the trained length
and one for longer ones. Published lists come from a search on one model and have a number for each
pair; a shorter list is stretched evenly over all pairs. The default, 1 to 8 in a straight line,
is no published one. Logits grow with the logarithm of the factor.)",
    .formula = "RoPE with base^(-2m/D) / short_m or long_m and logits times 1 + ln factor / ln length",
    .source = "Ding et al. 2024"};

}  // namespace poslab
