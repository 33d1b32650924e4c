// DroPE (Gelberg et al. 2025, 2512.12167): train with RoPE, drop it, and train a little more at the same length.
//
//   s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D),   dropped: s_ij = q_i . k_j / sqrt(D)
//
// Left out: the settings of the training after the drop. --temperature sets a temperature for longer tests.
#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {

extern const SchemePages drope_pages;
Scheme drope() {
  return rotary_layers_scheme(
      {.name = "drope", .options = {{"dropped", false, "positions are dropped"}, pairing_option(), rope_base()},
       .make = [](Params, const ModelShape& m, const Choices& c,
                  int) {
         return c.on("dropped") ? std::make_unique<Encoding>() : rotary_everywhere(rotary_layer(m, c));
       },
       .laws = [](auto&, auto& c) { return Laws{.two_sided = c.on("dropped")}; }, .pages = drope_pages},
      Reads::positions, [](const Choices& c) { return !c.on("dropped"); });
}

// -- for pages
const SchemePages drope_pages = {
    .summary = "RoPE to train with, which is dropped at the end",
    .about = R"(RoPE helps a model to learn and then keeps it from reading strings that are longer. So it is
dropped (dropped=on) before the end of training, and the model goes on for a little while without
any positions. With a causal mask it can still tell the order.)",
    .formula = "s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D),   dropped: s_ij = q_i . k_j / sqrt(D)",
    .source = "Gelberg et al. 2025",
    .shows = [](const ModelShape&, const Choices& c) {
      return c.on("dropped") ? "No position: all pairs of slots look alike." : cosines_shown + ".";
    },
    .pictures = {.matrix = [](auto& m, auto& c) { return c.on("dropped") ? zero_contents(m, c) : cosines(m, c); }}};

}  // namespace poslab
