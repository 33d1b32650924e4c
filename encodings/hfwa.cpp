// HFWA (Su 2023, kexue.fm/archives/9603): windows with RoPE, and a last layer that sees all keys without positions.
//
//   layers 1 .. l-1:  s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D) where i - j < w
//   layer l:          s_ij = ln(n_i) / ln(length) q_i . k_j / sqrt(D),  n_i: number of keys that query i sees
//
// Through the windows a slot sees (w - 1)(l - 1) + 1 tokens; Su keeps that below 3/4 of the trained length.
#include <cmath>

#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {

extern const SchemePages hfwa_pages;
Scheme hfwa() {
  return rotary_layers_scheme(
      {.name = "hfwa",
       .options = {{"window", 16, {2, 1 << 24}, "keys that all layers but the last see"},
                   window_option("length", "1L", "number of keys at which the last layer's logits are unchanged"),
                   pairing_option(), rope_base()},
       .make = [](Params, const ModelShape& m, const Choices& c, int layer) -> std::unique_ptr<Encoding> {
         if (layer + 1 < m.layers) return windowed_layer("hfwa", m, c);
         const double length = std::log(c.whole("length"));
         return std::make_unique<ByKeys>(c.spelled(), [=](double n) { return std::log(n) / length; });
       },
       .laws = [](auto&, auto&) { return Laws{.permutes = false}; },
       .causal_only = [](const Choices&) -> std::string {
         return "its last layer distinguishes slots by the number of keys that they see";
       },
       .pages = hfwa_pages},
      Reads::positions | Reads::slots);
}

// -- for pages
const SchemePages hfwa_pages = {
    .summary = "windows with RoPE, and a last layer that sees all and knows no positions",
    .about = R"(All layers but the last see a short window of keys, with RoPE. The last one sees all keys and is
given no positions; its logits grow with the logarithm of their number. No layer sees a distance
that training has not seen. The model must be trained with these layers. The window counts slots:
samplers change rotations, not which keys are seen.)",
    .formula = "RoPE where i - j < w; in the last layer s_ij = ln n_i / ln length q_i . k_j / sqrt(D)",
    .source = "Su 2023",
    .shows = [](const ModelShape& m, const Choices& c) {
      const double reach = (c.whole("window") - 1.0) * (m.layers - 1) + 1;
      return fmt::format(
          "{} Through the windows a slot sees {:.0f} tokens, {:.2f} of length; at most 0.75 is advised. The "
          "last layer is given no position.",
          cosines_seen_shown, reach, reach / c.whole("length"));
    },
    .least_layers = always(2), .unreached = until_slot("window"),
    .pictures = {.matrix = [](auto& m, auto& c) {
                   return m.layer + 1 < m.layers ? cosines(m, c) : zero_contents(m, c);
                 },
                 .layers_differ = true}};

}  // namespace poslab
