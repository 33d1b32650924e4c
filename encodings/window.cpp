// Sliding-window attention (Longformer, Beltagy et al. 2020; Mistral, Jiang et al. 2023): a query sees only near keys.
//
//   a_ij = softmax_j over |i - j| < w, slots;  with rotary positions, or without any (rope=off)
//
// With a causal mask w keys are seen, the query's own among them, as in Mistral; without one 2w - 1.
#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

BandsOf window_bands(const ModelShape& m, const Choices& c) {
  return sliding("window", c.whole("window"), m.causal, c.on("rope"));
}

}  // namespace

extern const SchemePages window_pages;
Scheme window() {
  return windowed_scheme(
      {.name = "window",
       .options = {window_option("window", "0.5L", "no key that is this many slots away or more is seen"),
                   {"rope", true, "queries and keys are rotated by their positions"},
                   pairing_option(), rope_base()},
       .laws = [](auto&, auto& c) { return Laws{.two_sided = !c.on("rope"), .permutes = false}; },
       .pages = window_pages},
      window_bands, [](const Choices& c) { return c.on("rope"); });
}

// -- for pages
const SchemePages window_pages = {
    .summary = "a query sees only keys within a window of slots, with RoPE or without positions",
    .about = R"(A query sees only the keys less than `window` slots away. Keys further away reach it through the
layers between. The window counts slots: samplers change rotations, not which keys are seen.)",
    .formula = "s_ij = (R(p_i) q_i) . (R(p_j) k_j) / sqrt(D) where |i - j| < w, else masked",
    .source = "Beltagy et al. 2020; Jiang et al. 2023",
    .shows = [](const ModelShape&, const Choices& c) {
      return c.on("rope") ? cosines_seen_shown
                          : "1 for pairs within the window; hidden pairs are drawn as -1.";
    },
    .unreached = until_slot("window")};

}  // namespace poslab
