// SelfExtend (Jin et al. 2024; github.com/datamllab/LongLM): RoPE for near keys, positions in groups for far ones.
//
//   rho = r if r < w, else floor(p_i / G) - floor(p_j / G) + w - floor(w / G)            r = p_i - p_j
//
// Leaky ReRoPE with k = G, in whole numbers. The released code adds w - w / G without the floor in prefill
// (shift=exact); it picks near keys by slots, poslab by positions. A key after the query has -rho(-r), an extension.
#include <cmath>

#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

PiecewiseRotary grouped(const ModelShape& m, const Choices& c) {
  const double w = c.whole("window"), G = c.whole("group");
  const double shift = w - (c["shift"] == "exact" ? w / G : std::floor(w / G));
  const auto group = [G](double p) { return std::floor(p / G); };
  return {rotary_layer(m, c), w, {[=](double p) { return group(p) + shift; }, group}, m.causal};
}

}  // namespace

extern const SchemePages self_extend_pages;
Scheme self_extend() {
  return piecewise_scheme(
      {.name = "self_extend",
       .options = {window_option("window", "0.5L", "distance up to which nothing changes"),
                   {"group", 8, {1, 1 << 24}, "positions in a group beyond the window"},
                   {"shift", {"floor", "exact"}, "w - floor(w / group) as published, or w - w / group as released"},
                   pairing_option(), rope_base()},
       .laws = [](auto&, auto&) { return Laws{.shift = false, .toeplitz = false}; },
       .pages = self_extend_pages},
      grouped);
}

// -- for pages
const SchemePages self_extend_pages = {
    .summary = "RoPE for near keys, and positions in groups for far ones",
    .about = R"(Keys within a window are seen as in RoPE. For keys beyond it, positions are counted in groups, so
that far distances grow more slowly and stay among those of training. It is meant for testing a
trained RoPE model. Which group a slot falls into depends on where the string begins.)",
    .formula = "rho = r if r < w else floor(p_i / G) - floor(p_j / G) + w - floor(w / G),   r = p_i - p_j",
    .source = "Jin et al. 2024",
    .shows = [](auto&, auto&) { return cosines_shown + ", in steps of groups beyond the window."; }};

}  // namespace poslab
