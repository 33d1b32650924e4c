// ALiBi (Press et al. 2022): nearer is better, by a slope that each head has to itself.
//
//   s_ij = q_i . k_j / sqrt(D) + m_h ( -|d_ij| + 0.5 [d_ij < 0] )                  d_ij = p_j - p_i
//
// The 0.5, of the released code of Ruoss et al., tells left from right. Not with a causal mask, nor if `symmetric`.
// Left out: learned slopes, half the heads a side.
#include <cmath>

#include "core/error.h"
#include "encodings/encoding.h"

namespace poslab {
namespace {

// H a power of two: 2^(-8h/H), h = 1 .. H. Else those of the power of two below, then every other one of the next.
std::vector<double> slopes(int heads) {
  const auto geometric = [](int n, int h) { return std::exp2(-8.0 * h / n); };
  int below = 1;
  while (2 * below <= heads) below *= 2;
  std::vector<double> m;
  for (int h = 1; h <= below; ++h) m.push_back(geometric(below, h));
  for (int h = 1; int(m.size()) < heads; h += 2) m.push_back(geometric(2 * below, h));
  return m;
}

struct ALiBi : Encoding {
  std::vector<double> slope;
  double left;
  bool table;   // what the paper samples for ALiBi are the bias values themselves (spec A.2)
  explicit ALiBi(const EncodingSpec& spec)
      : slope(slopes(spec.heads)), left(spec.symmetric || spec.causal ? 0 : 0.5),
        table(spec.mode != RelativeMode::differences) {
    if (spec.mode == RelativeMode::released)
      bad_input("alibi: mode released is of the relative scheme; use offset_table");
  }

  double bias(double m, double distance) const { return m * (-std::abs(distance) + (distance < 0 ? left : 0)); }
  double told(double distance, int) const override { return bias(slope[0], distance); }

  Scores scores(const Heads& in, const Positions& p, int layer) const override {
    const Distances& distances = table ? p.offsets("alibi") : p.distances();
    std::vector<double> b;
    const std::vector<double> d = distances.rows(in.q.device());
    for (double distance : d)
      for (double m : slope) b.push_back(bias(m, distance));
    Scores s = Encoding::scores(in, p, layer);
    s.bias = Tensor::from({int(d.size()), int(slope.size())}, b).to(in.q.device());   // (N, H)
    s.pairs = distances.of_last(in.q.dim(1));
    return s;
  }
};

}  // namespace

Scheme alibi() {
  return {"alibi", "a penalty for distance, with a slope of its own for each head", "Press et al. 2022", true,
          [](Params, const EncodingSpec& spec) { return std::make_unique<ALiBi>(spec); }, true};
}

}  // namespace poslab
