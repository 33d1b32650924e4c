// Hard ALiBi (Jelassi et al. 2024): head h sees the last h keys, h = 1 .. M, and the other heads have no positions.
//
//   s_ij = q_i . k_j / sqrt(D), or -infinity where |i - j| >= h and h <= M          i, j: slots, H - M heads see all
//
// M is half of the heads, rounded up, as in the released code. Published for causal masks: without one, a head sees
// its own slot and h - 1 keys on each side.
#include <cmath>

#include "encodings/by_distance.h"

namespace poslab {
namespace {

int windowed(const ModelShape& m, const Choices& c) {
  const int said = c.whole("windowed");
  return said ? said : (m.heads + 1) / 2;
}

struct HardALiBi : Encoding {
  int heads, windows;
  HardALiBi(const ModelShape& m, const Choices& c) : heads(m.heads), windows(windowed(m, c)) {}

  Scores scores(const Heads& in, const Positions& p) const override {
    const int T = in.k.dim(1);
    Scores s = Encoding::scores(in, p);
    s.bias = p.once(fmt::format("hard_alibi {} {} {}", heads, windows, T), in.q.device(), [&](Device device) {
      Tensor rows = Tensor::full({2 * T - 1, heads}, 0);           // row j - i + T - 1
      for (int d = 1 - T; d < T; ++d)
        for (int h = 0; h < windows; ++h)
          if (std::abs(d) > h) rows.data()[(d + T - 1) * heads + h] = real(unseen);
      return rows.to(device);
    });
    s.bias = keep_hidden(s.bias, s.temperature);
    return s;
  }
  Tensor logits(const Heads& in, const Positions& p, const Span& span) const override {
    return show_unseen(Encoding::logits(in, p, span));
  }
};

}  // namespace

extern const SchemePages hard_alibi_pages;
Scheme hard_alibi() {
  return {.name = "hard_alibi",
          .options = {{"windowed",
                       0,
                       {0, 1024},
                       "M: heads with a window of 1, 2, 3, ... keys; 0: half of the heads, rounded up"}},
          .reads =
              [](const Choices& c) {  // the first head's window is its own slot: no order
                return c.whole("windowed") == 1 ? Reads::nothing : Reads::slots;
              },
          .check = [](const ModelShape& m, const Choices& c) {
            if (m.heads == 1 && !c.whole("windowed"))
              bad_input(
                  "hard_alibi gives half of the heads a window, but heads = 1: it would see only its own slot; use "
                  "2 heads or more, or hard_alibi:windowed=1");
            if (windowed(m, c) > m.heads)
              bad_input("hard_alibi: windowed = {} of heads = {}; give at most the number of heads",
                        windowed(m, c), m.heads);
          },
          .make = [](Params, const ModelShape& m, const Choices& c, int) { return std::make_unique<HardALiBi>(m, c); },
          .laws = always(Laws{.two_sided = true, .permutes = false}), .pages = hard_alibi_pages};
}

// -- for pages
const SchemePages hard_alibi_pages = {
    .summary = "the first half of the heads see the last 1, 2, 3, ... keys, the others see all, without positions",
    .about = R"(Half of the heads see only the last few keys: the first only its own slot, the second one more,
and so on. The others see everything and have no positions. The first kind tells what the last few
symbols were, the second finds where they stood before, which is how a string is copied.
Only the order of slots is read: samplers change nothing.)",
    .formula = "s_ij = q_i . k_j / sqrt(D) if |i - j| < h or h > M, else -infinity,   h = 1 .. H",
    .source = "Jelassi et al. 2024", .doors = "3",
    .shows = [](const ModelShape& m, const Choices& c) {
      return fmt::format("-infinity where a head does not see the key. {} of {} heads have a window.",
                         windowed(m, c), m.heads);
    }};

}  // namespace poslab
