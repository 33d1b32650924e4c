// RNoPE-SWA (Yang et al. 2025, 2501.18795): layers with RoPE see a window, and every fourth sees all without positions.
//
//   layer 4, 8, ...:  s_ij = q_i . k_j / sqrt(D);   others: (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D) where |i - j| < w
//
// Three to one and w = 4096 follow Command A's model card; every=2 alternates.
#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {

extern const SchemePages rnope_pages;
Scheme rnope() {
  return rotary_layers_scheme(
      {.name = "rnope",
       .options = {window_option("window", "0.5L",
                                 "most layers see no key that is this many slots away or more"),
                   {"every", 4, {2, 1024}, "one layer in this many sees all keys and has no positions"},
                   pairing_option(), rope_base()},
       .make = [](Params, const ModelShape& m, const Choices& c, int layer) -> std::unique_ptr<Encoding> {
         if ((layer + 1) % c.whole("every") == 0) return std::make_unique<Encoding>();
         return windowed_layer("rnope", m, c);
       },
       .laws = [](auto&, auto&) { return Laws{.permutes = false}; }, .pages = rnope_pages},
      Reads::positions | Reads::slots);
}

// -- for pages
const SchemePages rnope_pages = {
    .summary = "a window with RoPE, and in every fourth layer all keys without positions",
    .about = R"(Most layers see a window of keys, rotated as in RoPE, and attend to what is near. Every fourth
sees all keys and is given no positions, so that it finds by content what is far. The window counts
slots: samplers change rotations, not which keys are seen.)",
    .formula = "RoPE where |i - j| < w; in each `every`-th layer s_ij = q_i . k_j / sqrt(D) for all keys",
    .source = "Yang et al. 2025",
    .shows = [](auto&, auto&) { return cosines_seen_shown + " A layer without positions is blank."; },
    .least_layers = [](const Choices& c) { return c.whole("every"); },
    .unreached = until_slot("window"),
    .pictures = {.matrix = [](auto& m, auto& c) {
                   return (m.layer + 1) % c.whole("every") ? cosines(m, c) : zero_contents(m, c);
                 },
                 .layers_differ = true}};

}  // namespace poslab
