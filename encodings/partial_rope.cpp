// RoPE in which some pairs of channels do not turn and so carry no position. D channels a head, f_m = base^(-2m/D):
//
//   partial_rope   the first R = fraction D channels, as a head of R: f_m = base^(-2m/R)      GPT-NeoX 2022
//   p_rope         f_m, m < floor(fraction D/2), else 0                                       Barbero et al. 2025
//   hope_hf        f_m where its wavelength 2 pi / f_m <= L, else 0                           Chen et al. 2025
//   clipped_rope   f_m (1 + cos(pi n / (N - 1))) / 2, n = 0 .. N-1 over the slowest N pairs   Li et al. 2026
// hope_hf is written from its abstract, clipped_rope from its released code, whose N is 20 of 64 (planes=20).
#include <algorithm>
#include <cmath>
#include <numbers>

#include "encodings/rotary.h"
#include "encodings/sinusoid.h"

namespace poslab {
namespace {

constexpr double circle = 2 * std::numbers::pi;

int pairs_turning(const HeadAt& t, const Choices& c) {   // rounded down, and at least one
  const int pairs = t.channels / 2;
  return std::max(1, int(c.number("fraction") * pairs));
}

RotarySpectrum narrow(const HeadAt& t, const Choices& c) {
  return {frequencies(2 * pairs_turning(t, c), c.number("base"))};
}

RotarySpectrum fastest(const HeadAt& t, const Choices& c) {
  std::vector<double> f = frequencies_of(t, c);
  std::fill(f.begin() + pairs_turning(t, c), f.end(), 0);
  return {f};
}

RotarySpectrum coming_round(const HeadAt& t, const Choices& c) {
  std::vector<double> f = frequencies_of(t, c);
  for (double& x : f)
    if (circle / x > c.number("length")) x = 0;
  return {f};
}

RotarySpectrum clipped_frequencies(const HeadAt& t, const Choices& c) {
  std::vector<double> f = frequencies_of(t, c);
  const auto never_round = [&](double x) { return circle / x > c.number("length"); };
  const size_t slow = size_t(std::count_if(f.begin(), f.end(), never_round));
  const size_t N = c.whole("planes") ? std::min(size_t(c.whole("planes")), f.size()) : slow;
  for (size_t n = 0; n < N; ++n) {
    const double soft = N == 1 ? 1 : (1 + std::cos(std::numbers::pi * double(n) / double(N - 1))) / 2;
    f[f.size() - N + n] *= c["taper"] == "hard" ? 0 : soft;
  }
  return {f};
}

Option fraction_option(double standard) {
  return {"fraction", standard, {0, 1}, "share of pairs that turn, rounded down, but at least one"};
}
Option long_enough() { return length_option(7); }   // long enough for the fastest pair, which turns fully in 6.28

}  // namespace

extern const SchemePages partial_rope_pages, p_rope_pages, hope_hf_pages, clipped_rope_pages;
Scheme partial_rope() {
  return rotary_scheme(
      {.name = "partial_rope", .options = {fraction_option(0.25), rope_base(), pairing_option()},
       .pages = partial_rope_pages},
      narrow);
}

Scheme p_rope() {
  return rotary_scheme(
      {.name = "p_rope", .options = {fraction_option(0.75), rope_base(), pairing_option()},
       .pages = p_rope_pages},
      fastest);
}

Scheme hope_hf() {
  return rotary_scheme(
      {.name = "hope_hf", .options = {long_enough(), rope_base(), pairing_option()}, .pages = hope_hf_pages},
      coming_round);
}

Scheme clipped_rope() {
  return rotary_scheme(
      {.name = "clipped_rope",
       .options = {long_enough(),
                   {"planes", 0, {0, 1 << 16}, "the number of slowest pairs; 0: those with wavelengths > length"},
                   {"taper", {"soft", "hard"}, "soft: slowed along half a cosine; hard: none of these pairs turns"},
                   rope_base(), pairing_option()},
       .pages = clipped_rope_pages},
      clipped_frequencies);
}

// -- for pages
namespace {

// Every wavelength is below 2 pi base, however wide a head is.
std::string beyond_wavelengths(const Choices& c, const Extent&) {
  return c.number("length") >= circle * c.number("base")
             ? fmt::format("length = {} is above all wavelengths, which are below {:.0f}", c["length"],
                           circle * c.number("base")) : "";
}

}  // namespace

const SchemePages partial_rope_pages = {
    .summary = "RoPE on the first channels of each head, the others without positions",
    .about = R"(Only the first part of each head's channels is rotated, like a smaller head in RoPE. The rest
compares contents wherever they stand. GPT-NeoX and Pythia rotate a quarter.)",
    .formula = "RoPE on the first R = fraction D channels, f_m = base^(-2m/R)", .source = "Black et al. 2022"};

const SchemePages p_rope_pages = {
    .summary = "RoPE without its slowest pairs, which compare contents only",
    .about = R"(The fastest pairs of channels turn as in RoPE, and the slowest do not turn at all. In RoPE these
turn so little that models use them for contents, until an input is long enough to turn them after
all.)",
    .formula = "RoPE with f_m = base^(-2m/D) for m < floor(fraction D/2), else 0", .source = "Barbero et al. 2025",
    .file = "encodings/partial_rope.cpp"};

const SchemePages hope_hf_pages = {
    .summary = "high-frequency RoPE: pairs with wavelengths beyond the trained length do not turn",
    .about = R"(Pairs of channels whose wavelength is longer than the trained length do not turn: training would
show them a part of the circle only. One of three schemes that are called HoPE; the name in full is
high-frequency rotary position encoding.)",
    .formula = "RoPE with f_m = base^(-2m/D) where 2 pi / f_m <= length, else 0", .source = "Chen et al. 2025",
    .file = "encodings/partial_rope.cpp", .unreached = beyond_wavelengths};

const SchemePages clipped_rope_pages = {
    .summary = "RoPE whose slow pairs fade out towards the slowest, which does not turn",
    .about = R"(Pairs of channels that do not turn fully in the trained length are slowed along half a cosine, the
slowest ones most: the first of them keeps its speed, and the last does not turn. A hard cut
at the same pair would let attention ring with distance. Published as CoPE, a name that contextual
position encoding has too.)",
    .formula = "RoPE with f_m (1 + cos(pi n / (N - 1))) / 2 for its slowest N pairs, n = 0 .. N - 1",
    .source = "Li et al. 2026", .file = "encodings/partial_rope.cpp",
    .unreached = [](const Choices& c, const Extent& e) { return c.whole("planes") ? "" : beyond_wavelengths(c, e); }};

}  // namespace poslab
