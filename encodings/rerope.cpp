// ReRoPE (Su 2023, kexue.fm/archives/9708; github.com/bojone/rerope): RoPE in which no distance exceeds w.
//
//   s_ij = q_i . R(-rho) k_j / sqrt(D),   rho = r if r < w, else w + (r - w) / k         r = p_i - p_j
//
// `leaky` is k: 0 is ReRoPE itself (k infinite), above 1 Leaky ReRoPE, below 1 the inverse form, to train a model for
// tests as RoPE. A key after the query has -rho(-r), an extension; the released code's log n is --temperature log_n.
#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

// A far pair's rho = (p_i / k + w - w / k) - p_j / k; where k is infinite, w alone.
PiecewiseRotary layer(const ModelShape& m, const Choices& c) {
  const double w = c.whole("window"), k = c.number("leaky");
  const RotaryLayer t = rotary_layer(m, c);
  if (k == 0) return {t, w, {[w](double) { return w; }, {}}, m.causal};
  return {t, w, {[w, k](double p) { return p / k + w - w / k; }, [k](double p) { return p / k; }}, m.causal};
}

}  // namespace

extern const SchemePages rerope_pages;
Scheme rerope() {
  return piecewise_scheme(
      {.name = "rerope",
       .options = {window_option("window", "0.5L", "distance up to which nothing changes"),
                   {"leaky", 0., {0, 1e6}, "far distances grow by 1 / leaky per position; 0: not at all"},
                   pairing_option(), rope_base()},
       .pages = rerope_pages},
      layer);
}

// -- for pages
const SchemePages rerope_pages = {
    .summary = "RoPE whose distances end at a window, or go on in smaller steps",
    .about = R"(Within a window, queries and keys are rotated as in RoPE. Beyond it all distances count as the
window's width, or grow in steps of 1 / leaky, so that a long string brings no distance that
training has not seen. The window is measured in positions: random ones are further apart, and
need all weights in memory; evenly spaced positions take the fast route.)",
    .formula = "s_ij = q_i . R(-rho) k_j / sqrt(D), rho = r if r < w else w + (r - w) / k, r = p_i - p_j",
    .source = "Su 2023", .shows = [](auto&, auto&) { return cosines_shown + "."; }};

}  // namespace poslab
