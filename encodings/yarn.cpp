// Rotations slowed down according to the part of a circle that each pair passes in training. Inputs are s times longer
// than L slots:
//
//   yarn           f'_m = (1 - w_m) f_m + w_m f_m / s,   logits times t^2,   t = 0.1 ln s + 1      Peng et al. 2024
//     ramp=index   w_m from 0 at pair low to 1 at pair high, low = floor(pair(32)), high = ceil(pair(1)): the code
//     ramp=turns   w_m from 0 at 32 turns in L to 1 at one turn: the paper.  pair(r) = D ln(L / 2 pi r) / (2 ln base)
//                  The code keeps low at 0 or more and high at D - 1 or less, and clamps nothing else.
//   ntk_by_parts   pairs of under 1 turn: f_m / s; of 2 turns: bloc97's NTK; of 16 or more: f_m; earlier code
#include <algorithm>
#include <cmath>
#include <numbers>

#include "encodings/rotary.h"
#include "encodings/sinusoid.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

constexpr double full_circle = 2 * std::numbers::pi;

// The (fractional) number of the pair that makes this many turns in the trained length.
double pair_of(double turns, const HeadAt& t, const Choices& c) {
  return t.channels * std::log(c.number("length") / (full_circle * turns)) / (2 * std::log(c.number("base")));
}

// 0 up to pair low, 1 from pair high on; a step if a head has too few pairs for both. If both lie below 0 or both
// beyond pair channels - 1, high comes before low and the ramp falls: 0 for all pairs, or 1 for all.
double ramp(double m, double low, double high, int channels) {
  low = std::max(low, 0.0), high = std::min(high, channels - 1.0);
  return std::clamp((m - low) / (high == low ? 0.001 : high - low), 0.0, 1.0);
}

double interpolated_share(int m, double frequency, const HeadAt& t, const Choices& c) {
  const double fast = c.number("beta_fast"), slow = c.number("beta_slow");
  if (c["ramp"] == "turns")
    return std::clamp((fast - frequency * c.number("length") / full_circle) / (fast - slow), 0.0, 1.0);
  const double low = pair_of(fast, t, c), high = pair_of(slow, t, c);
  return c.on("truncate") ? ramp(m, std::floor(low), std::ceil(high), t.channels) : ramp(m, low, high, t.channels);
}

RotarySpectrum by_turns(const HeadAt& t, const Choices& c) {
  const double s = c.on("dynamic") ? std::max(1.0, t.slots / c.number("length")) : c.number("factor");
  std::vector<double> f = frequencies_of(t, c);
  for (size_t m = 0; m < f.size(); ++m) {
    const double w = interpolated_share(int(m), f[m], t, c);
    f[m] *= 1 - w + w / s;
  }
  const auto steepness = [&](const char* scale) { return 0.1 * c.number(scale) * std::log(s) + 1; };
  const double said = c.number("attention");
  const double attention = said != 0 ? said : steepness("mscale") / steepness("mscale_all_dim");
  return {c.on("resonance") ? resonant(f) : f, attention * attention};
}

RotarySpectrum by_parts(const HeadAt& t, const Choices& c) {
  const double s = c.number("factor"), slower = slower_base(c.number("base"), s, t.channels);
  const std::vector<double> plain = frequencies_of(t, c), ntk = frequencies(t.channels, slower);
  const auto between = [&](size_t m, double many, double few) {   // both ends are pairs of the head: never falls
    const auto held = [&](double pair) { return std::clamp(pair, 0.0, t.channels - 1.0); };
    return ramp(double(m), held(std::floor(pair_of(many, t, c))), held(std::ceil(pair_of(few, t, c))), t.channels);
  };
  std::vector<double> f;
  for (size_t m = 0; m < plain.size(); ++m) {
    const double to_pi = between(m, 1.25, 0.75), to_plain = 1 - between(m, 16, 2);
    const double slowed = (1 - to_pi) * ntk[m] + to_pi * plain[m] / s;
    f.push_back((1 - to_plain) * slowed + to_plain * plain[m]);
  }
  return {f};
}

}  // namespace

extern const SchemePages yarn_pages, ntk_by_parts_pages;
Scheme yarn() {
  return rotary_scheme(
      {.name = "yarn",
       .options = {factor_option(), length_option(),
                   {"ramp", {"index", "turns"}, "linear in m (code) or in turns (paper)"},
                   {"beta_fast", 32., {1e-6, 1e6}, "pairs with this many turns or more stay as in RoPE"},
                   {"beta_slow", 1., {1e-6, 1e6}, "pairs with this many turns or fewer are interpolated"},
                   {"truncate", true, "the ramp of m begins and ends at whole pairs"},
                   {"dynamic", false, "slots / length in place of factor"},
                   {"mscale", 1., {0, 10}, "logits times (1 + 0.1 mscale ln factor)^2"},
                   {"mscale_all_dim", 0., {0, 10}, "logits divided by the same formula with this, as in DeepSeek"},
                   {"attention", 0., {0, 1000}, "its square multiplies logits, whatever mscale is; 0: mscale decides"},
                   {"resonance", false, "wavelengths rounded: Resonance YaRN"},
                   rope_base(), pairing_option()},
       .check = [](const ModelShape&, const Choices& c) {
         if (c.number("beta_fast") <= c.number("beta_slow"))
           bad_input("yarn: beta_fast = {} must be above beta_slow = {}; pairs of at least "
                     "beta_fast turns stay, those of at most beta_slow are interpolated",
                     c["beta_fast"], c["beta_slow"]);
       },
       .pages = yarn_pages},
      by_turns, [](const Choices& c) { return c.on("dynamic"); });
}

Scheme ntk_by_parts() {
  return rotary_scheme(
      {.name = "ntk_by_parts", .options = {factor_option(), length_option(), rope_base(), pairing_option()},
       .pages = ntk_by_parts_pages},
      by_parts);
}

// -- for pages
static const OtherNames words_for_factor("factor", {"scale", "scaling"});

const SchemePages yarn_pages = {
    .summary = "RoPE that slows down pairs that do not turn fully in training, with sharper logits",
    .about = R"(Pairs that turn at most once in the trained length are interpolated, those that turn 32 times or
more stay, and a ramp joins them: linear in the pair's number, as in the released code, or in its
turns, as in the paper. Logits are multiplied by (0.1 ln factor + 1)^2. With few channels per head
and a short trained length, as 8 and 40 here, the ramp is a step: the first pair stays, all others
are interpolated.)",
    .formula = "RoPE with f_m (1 - w_m + w_m / factor) and logits times (0.1 ln factor + 1)^2, w_m a ramp over m",
    .source = "Peng et al. 2024",
    .unreached = [](const Choices& c, const Extent& e) { return c.on("dynamic") ? until_slot("length")(c, e) : ""; }};

const SchemePages ntk_by_parts_pages = {
    .summary = "RoPE in three parts: fast pairs as they are, slow ones interpolated, NTK between",
    .about = R"(Code that the authors of YaRN released before it: pairs that turn 16 times or more in the trained
length stay, those that do not turn once are interpolated, and those between are slowed as
NTK-aware scaling does. The YaRN paper gives this name to another blend, yarn:ramp=turns,mscale=0.)",
    .formula = "RoPE with f_m, f_m / factor and (base factor^(D/(D-2)))^(-2m/D), blended by turns in the length",
    .source = "Peng et al. 2023, released code", .file = "encodings/yarn.cpp"};

}  // namespace poslab
