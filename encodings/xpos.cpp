// xPos (Sun et al. 2022): RoPE with a decay of its own for each pair of channels.
//
//   s_ij = (R(p_i) z^(p_i / 512) q_i) . (R(p_j) z^(-p_j / 512) k_j) / sqrt(D),   z_m = (2m + 0.4 D) / 1.4 D
//
// So pair m has the weight z_m^((p_i - p_j) / 512). Positions are counted from the middle, which keeps the factors
// in range and changes no product. Left out: the blockwise mask of the paper's tests (--encoding window is similar).
#include <algorithm>
#include <cmath>

#include "encodings/rotary.h"
#include "encodings/windows.h"

namespace poslab {
namespace {

struct XPos : Encoding {
  RotaryLayer t;
  double scale_base;
  explicit XPos(const ModelShape& m, const Choices& c) : t(rotary_layer(m, c)), scale_base(c.whole("scale")) {}

  // z_m^(sign (p - middle) / scale): (S, T, D/2)
  Tensor decay(const Positions& p, Device device, int sign) const {
    return p.once(fmt::format("{} {} {}", t.name, t.frequencies.size(), sign), device, [&](Device there) {
      const std::vector<double>& at = p.tokens("xpos");
      const auto [least, most] = std::minmax_element(at.begin(), at.end());
      const double pairs = double(t.frequencies.size()), middle = (*least + *most) / 2;
      const double furthest = (*most - middle) / scale_base * std::log(3.5);   // 1 / z_0 = 3.5
      if (furthest > 80)
        bad_input("xpos: positions from {} to {} are too far apart for scale = {}: factors overflow a float; use "
                  "scale={:.0f} or more", *least, *most, scale_base, std::ceil(furthest / 80 * scale_base));
      std::vector<double> factor;
      for (double position : at)
        for (int m = 0; m < pairs; ++m)
          factor.push_back(std::pow((m + 0.4 * pairs) / (1.4 * pairs), sign * (position - middle) / scale_base));
      return Tensor::from({p.sequences(), p.time(), int(pairs)}, factor).to(there);
    });
  }

  Scores scores(const Heads& in, const Positions& p) const override {
    const Device device = in.q.device();
    const Rotation rotation = rotation_by(p, "xpos", fmt::format("{} {}", t.name, in.q.dim(3)), device, t.frequencies);
    const auto scaled = [&](int sign) -> Rotation {
      const Tensor z = decay(p, device, sign);
      return {rotation.cosine * z, rotation.sine * z};
    };
    Scores s = Encoding::scores(in, p);
    s.pieces[0].q = rotate(in.q, last_slots(scaled(1), in.q.dim(1)), t.pairing);
    s.pieces[0].k = rotate(in.k, scaled(-1), t.pairing);
    return s;
  }
};

}  // namespace

extern const SchemePages xpos_pages;
Scheme xpos() {
  return rotary_layers_scheme(
      {.name = "xpos",
       .options = {{"scale", 512, {1, 1 << 24}, "distance at which pair m has faded to z_m"},
                   pairing_option(), rope_base()},
       .make = [](Params, const ModelShape& m, const Choices& c, int) { return std::make_unique<XPos>(m, c); },
       .causal_only = [](const Choices&) -> std::string {
         return "its products grow with the distance of a key after the query";
       },
       .pages = xpos_pages});
}

// -- for pages
const SchemePages xpos_pages = {
    .summary = "RoPE whose products fade with the distance, fast pairs first",
    .about = R"(Queries and keys are rotated as in RoPE, and their pairs of channels fade with the distance: fast
ones soon, slow ones hardly. Far keys are then compared by slow pairs alone, whose angles training
has seen. It works to the left only: to the right the products would grow.)",
    .formula = "s_ij = sum_m z_m^((p_i - p_j) / 512) [ q_i . R(p_j - p_i) k_j ]_m / sqrt(D),   "
               "z_m = (2m + 0.4 D) / 1.4 D",
    .source = "Sun et al. 2022",
    .shows = always("The similarity of two equal contents after their rotations and decay; to the right, which a mask "
                    "hides, it grows."),
    .pictures = {.matrix = cosines}};

}  // namespace poslab
