// Resonance RoPE (Wang et al. 2024): wavelengths rounded to whole numbers of positions.
//
//   f'_m = 2 pi / round(2 pi / f_m)
// A pair then takes the same few angles again and again, and no new ones beyond the trained length.
#include <cmath>
#include <numbers>

#include "encodings/rotary.h"

namespace poslab {

std::vector<double> resonant(std::vector<double> f) {
  const double circle = 2 * std::numbers::pi;
  for (double& x : f) x = circle / std::round(circle / x);
  return f;
}

extern const SchemePages resonance_pages;
Scheme resonance() {
  return rotary_scheme(
      {.name = "resonance", .options = {rope_base(), pairing_option()}, .pages = resonance_pages},
      [](const HeadAt& t, const Choices& c) { return RotarySpectrum{resonant(frequencies_of(t, c))}; });
}

// -- for pages
const SchemePages resonance_pages = {
    .summary = "RoPE whose wavelengths are whole numbers of positions",
    .about = R"(The wavelength of each pair of channels is rounded to a whole number of positions. At whole
positions a pair then takes a few angles again and again, all of which training has seen if its
wavelength is shorter than the trained length. With YaRN: yarn:resonance.)",
    .formula = "RoPE with f_m = 2 pi / round(2 pi / base^(-2m/D))", .source = "Wang et al. 2024"};

}  // namespace poslab
