// Biases and gains by the distance of two tokens, d_ij = p_j - p_i: negative looks back.
//
//   s_ij = gain_h(d_ij) q_i . k_j / sqrt(D) + bias_h(d_ij)
//
// A scheme has a row of H numbers for each distance that occurs, and fused attention looks the rows up.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "encodings/encoding.h"

namespace poslab {

class ByDistance : public Encoding {
 public:
  Scores scores(const Heads&, const Positions&) const override;
  std::optional<LayerTerms> terms(const Positions&, const LayerShape&) const override;   // absent with gains

 protected:
  // Sets bias, gain or both, (N, H), for the distances of p.
  virtual void rows(Scores&, const Positions& p, Device) const = 0;
};

// f(distance, column) for each distance of p: (N, columns). Computed once per pass and kept under `name`, which must
// contain every parameter of f except `columns`, such as the number of heads.
Tensor distance_table(const Positions& p, const std::string& name, Device, int columns,
                    const std::function<double(double, int)>& f);

// The slopes of ALiBi: 2^(-8h/H), h = 1 .. H, if H is a power of two; else the slopes of the power of two below H, then
// every other slope of the next power.
std::vector<double> alibi_slopes(int heads);

// The bias of a pair that a head does not see. Finite, because the gradient of the temperature's factor contains it.
constexpr double unseen = -1e9;
// `bias`, (N, H), with the sign of `hidden` flipped in heads whose temperature factor is negative (a learned one may
// become so): the pairs stay hidden. A factor of 0 hides nothing.
Tensor keep_hidden(const Tensor& bias, const Tensor& temperature, double hidden = unseen);
Tensor show_unseen(const Tensor& logits, double hidden = unseen);   // makes hidden pairs -infinity (factor > 0.001)

}  // namespace poslab
