// HFWA2 (Su 2023, series on RoPE, part 15): windows with RoPE, and one or two layers between them that see all keys.
//
//   full layer (from 0): floor(l / 2), with full=2 floor(l / 3) and floor(2 l / 3);  w = 32 or 64 in other layers
//   full layers use RoPE in training; at test they may use ReRoPE, with a window of its own:  rerope=256
#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

bool is_full(const ModelShape& m, const Choices& c, int layer) {
  const int full = c["full"] == "2" ? 2 : 1;
  for (int n = 1; n <= full; ++n)
    if (layer == m.layers * n / (full + 1)) return true;
  return false;
}

}  // namespace

extern const SchemePages hfwa2_pages;
Scheme hfwa2() {
  return rotary_layers_scheme(
      {.name = "hfwa2",
       .options = {{"window", 32, {2, 1 << 24}, "most layers see no key that is this many slots away or more"},
                   {"full", {"1", "2"}, "layers that see all keys"},
                   {"rerope", 0, {0, 1 << 24}, "window of ReRoPE in full layers, for the test; 0: RoPE"},
                   pairing_option(), rope_base()},
       .make = [](Params, const ModelShape& m, const Choices& c, int layer) -> std::unique_ptr<Encoding> {
         if (!is_full(m, c, layer)) return windowed_layer("hfwa2", m, c);
         RotaryLayer t = rotary_layer(m, c);
         t.name += ", full";
         const double w = c.whole("rerope");
         if (w == 0) return rotary_everywhere(t);
         return std::make_unique<PiecewiseRotary>(t, w, PiecewiseRotary::Far{[w](double) { return w; }, {}}, m.causal);
       },
       .laws = [](auto&, auto&) { return Laws{.permutes = false}; }, .pages = hfwa2_pages},
      Reads::positions | Reads::slots);
}

// -- for pages
const SchemePages hfwa2_pages = {
    .summary = "windows with RoPE, and one or two layers between them that see all keys",
    .about = R"(Most layers see a window of keys, one or two in the middle see all, and RoPE rotates queries and
keys in all of them. At test the full layers may turn as ReRoPE does (rerope=256), so that no layer
sees a distance that training has not seen. Windows count slots: samplers change rotations, not
which keys are seen.)",
    .formula = "RoPE where |i - j| < w; in layers l/2, or l/3 and 2l/3, everywhere (at test: ReRoPE)",
    .source = "Su 2023", .shows = [](auto&, auto&) { return cosines_seen_shown; },
    .least_layers = always(2), .unreached = until_slot("window"),
    .pictures = {.matrix = cosines,
                 .layers_differ = true}};

}  // namespace poslab
