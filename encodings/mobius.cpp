// Moebius RoPE (2026): in some heads the frequencies are odd multiples of pi / N, in the others RoPE's.
//
//   f_m = pi (2m + 1) / N, m = 0 .. D/2-1:   R(N) = -I, and the mean cosine is sin(D pi d / N) / (D sin(pi d / N))
// Written from a note on the paper, which does not say which heads these are: here the first.
#include <cmath>
#include <numbers>

#include "encodings/rotary.h"

namespace poslab {
namespace {

RotarySpectrum odd_multiples(const HeadAt& t, const Choices& c) {
  if (t.head >= int(std::lround(c.number("fraction") * t.heads))) return {frequencies_of(t, c)};
  std::vector<double> f;
  for (int m = 0; m < t.channels / 2; ++m) f.push_back(std::numbers::pi * (2 * m + 1) / c.number("length"));
  return {f};
}

}  // namespace

extern const SchemePages mobius_pages;
Scheme mobius() {
  return rotary_scheme(
      {.name = "mobius",
       .options = {length_option(),
                   {"fraction", 0.25, {0, 1}, "share of heads that turn this way, the first ones; rounded"},
                   rope_base(), pairing_option()},
       .pages = mobius_pages},
      odd_multiples);
}

// -- for pages
const SchemePages mobius_pages = {
    .summary = "some heads turn by odd multiples of pi / length, the others as in RoPE",
    .about = R"(In a quarter of the heads all pairs of channels turn by odd multiples of one slow angle, so that
after `length` positions each vector has become its own negative, as on a Moebius strip: far keys
are as unlike as near ones are alike. The other heads are as in RoPE.)",
    .formula = "RoPE with f_m = pi (2m + 1) / length in fraction H heads", .source = "Moebius RoPE 2026"};

}  // namespace poslab
