// iRoPE (Llama 4, 2025; transformers, modeling_llama4): RoPE, and no positions in every fourth layer.
//
//   layer 4, 8, ...:  s_ij = f_i q_i . k_j / sqrt(D),  f_i = 1 + 0.1 ln(1 + floor(n_i / 8192)),  n_i: keys seen
//
// Left out: chunks of 8192 keys, to which Llama 4 limits RoPE layers. Without a mask: "rope|rope|rope|none".
#include <cmath>

#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {

extern const SchemePages irope_pages;
Scheme irope() {
  return rotary_layers_scheme(
      {.name = "irope",
       .options = {{"every", 4, {2, 1024}, "one layer in this many has no positions"},
                   window_option("length", "1L", "number of keys in each step of the temperature", {1, 1 << 24}),
                   {"scale", 0.1, {0, 100}, "height of the temperature's steps"},
                   pairing_option(), rope_base()},
       .make = [](Params, const ModelShape& m, const Choices& c, int layer) -> std::unique_ptr<Encoding> {
         const RotaryLayer t = rotary_layer(m, c);
         if ((layer + 1) % c.whole("every")) return rotary_everywhere(t);
         return std::make_unique<ByKeys>(t.name, [scale = c.number("scale"), length = c.whole("length")](double n) {
           return 1 + scale * std::log1p(std::floor(n / length));
         });
       },
       .causal_only = [](const Choices&) -> std::string {
         return "its layers without positions distinguish slots by the number of keys that they see";
       },
       .pages = irope_pages});
}

// -- for pages
const SchemePages irope_pages = {
    .summary = "RoPE; every fourth layer has a temperature and no positions",
    .about = R"(Most layers rotate queries and keys as RoPE does. Every fourth one is given no positions, so that
distance does not matter to it, and its logits grow a little each time the number of keys passes a
multiple of `length`. The causal mask shows it the order.)",
    .formula = "RoPE; in each `every`-th layer s_ij = (1 + scale ln(1 + floor(n_i / length))) q_i . k_j / sqrt(D)",
    .source = "Llama 4",
    .shows = always("The mean cosine of the angles between two slots; a layer without positions is blank."),
    .least_layers = [](const Choices& c) { return c.whole("every"); },
    .unreached = until_slot("length", -1),                     // the temperature rises at each multiple
    .pictures = {.matrix = [](auto& m, auto& c) {
                   return (m.layer + 1) % c.whole("every") ? cosines(m, c) : zero_contents(m, c);
                 },
                 .layers_differ = true}};

}  // namespace poslab
