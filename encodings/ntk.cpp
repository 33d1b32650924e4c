// Slower rotations for inputs that are k times longer than in training. D channels a head, base b, f_m = b^(-2m/D):
//
//   pi            f_m / k                                                        Chen et al. 2023
//   ntk  bloc97   (b k^(D/(D-2)))^(-2m/D): the first pair unchanged, the last k times slower      bloc97 2023
//        old      (b k)^(-2m/D);   fixed  f_m k^(-2(m+1)/D)                      Su 2023, blog series, parts 10 and 11
//        mixed    f_m exp(-a (m+1)^e),  a = ln k / (D/2)^e;   e = 1 is fixed, e = 0 is pi
//   dynamic_ntk   bloc97 with k = alpha T / L - (alpha - 1), T slots, L slots in training       emozilla 2023
#include <algorithm>
#include <cmath>

#include "encodings/rotary.h"
#include "encodings/sinusoid.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

double divisor(const Choices& c, int slots) {
  return c.on("dynamic") ? std::max(1.0, slots / c.number("length")) : c.number("factor");
}
RotarySpectrum interpolated_frequencies(const HeadAt& t, const Choices& c) {
  std::vector<double> f = frequencies_of(t, c);
  for (double& x : f) x /= divisor(c, t.slots);
  return {f};
}

RotarySpectrum ntk_aware(const HeadAt& t, const Choices& c) {
  const double base = c.number("base"), k = c.number("factor"), e = c.number("exponent");
  if (c["form"] == "bloc97") return {frequencies(t.channels, slower_base(base, k, t.channels))};
  if (c["form"] == "old") return {frequencies(t.channels, base * k)};
  const double a = std::log(k) / std::pow(t.channels / 2.0, e);
  std::vector<double> f = frequencies_of(t, c);
  for (int m = 0; m < t.channels / 2; ++m)
    f[size_t(m)] *= c["form"] == "fixed" ? std::pow(k, -2.0 * (m + 1) / t.channels) : std::exp(-a * std::pow(m + 1, e));
  return {f};
}

RotarySpectrum by_slots(const HeadAt& t, const Choices& c) {
  const double alpha = c.number("factor"), k = std::max(1.0, alpha * t.slots / c.number("length") - (alpha - 1));
  return {frequencies(t.channels, slower_base(c.number("base"), k, t.channels))};
}

}  // namespace

extern const SchemePages pi_pages, ntk_pages, dynamic_ntk_pages;
Scheme pi() {
  return rotary_scheme(
      {.name = "pi",
       .options = {factor_option(), {"dynamic", false, "divide by slots / length, at least 1, in place of factor"},
                   length_option(), rope_base(), pairing_option()},
       .pages = pi_pages},
      interpolated_frequencies, [](const Choices& c) { return c.on("dynamic"); });
}

Scheme ntk() {
  return rotary_scheme(
      {.name = "ntk",
       .options = {{"form", {"bloc97", "old", "fixed", "mixed"}, "which pairs are slowed down, and how much"},
                   factor_option(),
                   {"exponent", 0.625, {0, 1}, "for form mixed: 0 is pi, 1 is fixed"},
                   rope_base(), pairing_option()},
       .pages = ntk_pages},
      ntk_aware);
}

Scheme dynamic_ntk() {
  return rotary_scheme(
      {.name = "dynamic_ntk",
       .options = {{"factor", 1., {1, 1e6}, "how fast the base grows with the number of slots"},
                   length_option(), rope_base(), pairing_option()},
       .pages = dynamic_ntk_pages},
      by_slots, always(true));
}

// -- for pages
const SchemePages pi_pages = {
    .summary = "RoPE at positions divided by the ratio of input length to trained length",
    .about = R"(Position interpolation: positions are divided by a factor, so that long inputs lie in the range of
positions that training has seen. Neighbours move closer together by the same factor. With
`dynamic` the factor is slots / length, and inputs up to the trained length are as in RoPE.)",
    .formula = "RoPE with f_m = base^(-2m/D) / factor", .source = "Chen et al. 2023", .file = "encodings/ntk.cpp",
    .unreached = [](const Choices& c, const Extent& e) { return c.on("dynamic") ? until_slot("length")(c, e) : ""; },
    .pictures = {.distances = [](const ModelShape&, const Choices& c, const Positions& p) {
                   std::vector<double> at = p.tokens("pi");
                   for (double& x : at) x /= divisor(c, p.time());
                   return effective_distances({{.q = at, .k = at}}, p.time());
                 }}};

const SchemePages ntk_pages = {
    .summary = "RoPE whose slow pairs are slowed down by a factor, and fast ones hardly",
    .about = R"(NTK-aware scaling: slow pairs of channels, which tell far keys apart, are interpolated; fast ones,
which tell neighbours apart, stay nearly as they are. One change of the base does both. Su's forms
see positions as numbers written in digits: `fixed` slows the first pair too, and `mixed` goes
from there (exponent 1) to position interpolation (exponent 0).)",
    .formula = "RoPE with f_m = (base factor^(D/(D-2)))^(-2m/D)", .source = "bloc97 2023, Su 2023"};

const SchemePages dynamic_ntk_pages = {
    .summary = "NTK-aware RoPE whose factor grows with the number of slots",
    .about = R"(NTK-aware scaling by as much as an input needs: up to the trained length it is RoPE, and from there
the base grows with the number of slots. With each further slot all keys rotate by new angles, so
a cache must hold keys that are not rotated yet.)",
    .formula = "RoPE with f_m = (base k^(D/(D-2)))^(-2m/D),   k = max(1, factor T / length - (factor - 1))",
    .source = "emozilla 2023", .file = "encodings/ntk.cpp", .unreached = until_slot("length")};

}  // namespace poslab
