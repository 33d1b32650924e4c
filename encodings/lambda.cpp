// LM-Infinite (Han et al. 2023; github.com/Glaciohound/LM-Infinite): a mask in the shape of a Lambda.
//
//   seen: |i - j| < w, with rho = p_i - p_j,  and the first `sinks` keys, with rho = w however far they are
//
// A first key that is after the query has rho = -w, an extension. Left out: released code's top-k keys (middle layers).
#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

BandsOf lambda_bands(const ModelShape& m, const Choices& c) {
  return [w = c.whole("window"), sinks = c.whole("sinks"), causal = m.causal](const Positions& p) {
    Bands all = sliding("lambda", w, causal)(p);
    const auto at = [&](double position) { return std::vector<double>(all[0].q.size(), position); };
    all.push_back({.q = at(w), .to = 1 - w, .end = sinks});
    if (!causal) all.push_back({.q = at(-w), .from = w, .end = sinks});
    return all;
  };
}

}  // namespace

extern const SchemePages lambda_pages;
Scheme lambda() {
  return windowed_scheme(
      {.name = "lambda",
       .options = {window_option("window", "0.5L", "slots of the window; first keys beyond it count as this far away"),
                   {"sinks", 4, {1, 1 << 24}, "first keys, seen by all queries"},
                   pairing_option(), rope_base()},
       .laws = [](auto&, auto&) { return Laws{.toeplitz = false, .permutes = false}; },
       .pages = lambda_pages},
      lambda_bands);
}

// -- for pages
const SchemePages lambda_pages = {
    .summary = "a window of near keys with RoPE, and the first keys at one distance (LM-Infinite)",
    .about = R"(A query sees the keys of a window, and besides them the first few keys of the string, which all
count as one window away however far they are. Where positions count slots, no distance is larger
than the window, so a model trained on strings longer than that sees no new distance.
Window and first keys are counted in slots: samplers change rotations, not which keys are seen.)",
    .formula = "rho = p_i - p_j where |i - j| < w, w for the other j < sinks, else masked",
    .source = "Han et al. 2023", .shows = [](auto&, auto&) { return cosines_seen_shown; },
    .unreached = until_slot("window", 1)};

}  // namespace poslab
