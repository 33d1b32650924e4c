// StreamingLLM (Xiao et al. 2023; github.com/mit-han-lab/streaming-llm): a cache of the first keys and the last ones.
//
//   seen: i - j < w, with rho = p_i - p_j,  and the first s keys, with rho = c_i - p_j
//   c_i = p_i until a key is left out, then p_s + p_i - p_(i-w+1): the window follows the first keys without a gap
//
// For positions 0, 1, 2, ... these are the positions of the released cache: c_i = s + w - 1 and key j < s at j.
#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

BandsOf sinks_bands(const ModelShape&, const Choices& c) {
  return [w = c.whole("window"), sinks = c.whole("sinks")](const Positions& p) {
    Bands all = sliding("sinks", w, true)(p);
    const std::vector<double>& at = all[0].q;
    std::vector<double> in_cache = at;
    const int T = p.time();
    for (int s = 0; s < p.sequences(); ++s)
      for (int i = sinks + w; i < p.kept(); ++i)
        in_cache[size_t(s * T + T - p.kept() + i)] += at[size_t(s * T + sinks)] - at[size_t(s * T + i - w + 1)];
    all.push_back({.q = std::move(in_cache), .k = at, .to = 1 - w, .end = sinks});
    return all;
  };
}

}  // namespace

extern const SchemePages sinks_pages;
Scheme sinks() {
  return windowed_scheme(
      {.name = "sinks",
       .options = {window_option("window", "0.5L", "last keys that a query sees, its own among them",
                                 {2, 1 << 20}),
                   {"sinks", 4, {1, 1 << 20}, "first keys, seen by all queries"},
                   pairing_option(), rope_base()},
       .laws = [](auto&, auto&) { return Laws{.toeplitz = false, .permutes = false}; },
       .causal_only = [](const Choices&) -> std::string {
         return "its positions are those of a cache that holds only the past";
       },
       .pages = sinks_pages},
      sinks_bands);
}

// -- for pages
const SchemePages sinks_pages = {
    .summary = "a window of near keys and the first keys, renumbered as in a cache (StreamingLLM)",
    .about = R"(A query sees the last keys and, besides them, the first few of the string: a softmax must put
its weight somewhere, and trained models put it there. Keys between are left out, and positions are
counted as if those keys had never been there. Window and first keys are counted in slots: samplers
change rotations, not which keys are seen.)",
    .formula = "rho = p_i - p_j where i - j < w, and p_s - p_j + p_i - p_(i-w+1) for key j < s where i >= s + w",
    .source = "Xiao et al. 2023", .shows = [](auto&, auto&) { return cosines_seen_shown; },
    .unreached = [](const Choices& c, const Extent& e) { return until_slot("window", c.whole("sinks"))(c, e); }};

}  // namespace poslab
