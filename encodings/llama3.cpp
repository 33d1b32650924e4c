// The bands of Llama 3.1 (Meta 2024): frequencies by wavelength l_m = 2 pi / f_m against the trained length L.
//
//   l_m < L / high   f_m                         l_m > L / low   f_m / factor
//   between          (1 - x) f_m / factor + x f_m,   x = (L / l_m - low) / (high - low)
#include <algorithm>
#include <numbers>

#include "encodings/rotary.h"

namespace poslab {
namespace {

RotarySpectrum by_wavelength(const HeadAt& t, const Choices& c) {
  const double low = c.number("low"), high = c.number("high");
  std::vector<double> f = frequencies_of(t, c);
  for (double& x : f) {
    const double turns = c.number("length") * x / (2 * std::numbers::pi);
    const double kept = std::clamp((turns - low) / (high - low), 0.0, 1.0);
    x *= kept + (1 - kept) / c.number("factor");
  }
  return {f};
}

}  // namespace

extern const SchemePages llama3_pages;
Scheme llama3() {
  return rotary_scheme(
      {.name = "llama3",
       .options = {factor_option(),
                   {"low", 1., {1e-6, 1e6}, "pairs with fewer turns in the trained length are slowed by factor"},
                   {"high", 4., {1e-6, 1e6}, "pairs with more turns in the trained length stay as they are"},
                   length_option(),
                   rope_base(500000), pairing_option()},
       .check = [](const ModelShape&, const Choices& c) {
         if (c.number("high") <= c.number("low"))
           bad_input("llama3: high = {} must be above low = {}; both count turns in the "
                     "trained length, and pairs between them are blended", c["high"], c["low"]);
       },
       .pages = llama3_pages},
      by_wavelength);
}

// -- for pages
const SchemePages llama3_pages = {
    .summary = "RoPE in bands by wavelength, as Llama 3.1 extends it",
    .about = R"(Pairs of channels that turn at least `high` times in the trained length stay as they are, those that
turn less than `low` times are slowed by the factor, and those between are blended by their turns.
The defaults are those of Llama 3.1, whose base is 500000; its trained length was 8192.)",
    .formula = "RoPE with f_m (x + (1 - x) / factor), x = (length f_m / 2 pi - low) / (high - low), within 0 and 1",
    .source = "Meta 2024"};

}  // namespace poslab
