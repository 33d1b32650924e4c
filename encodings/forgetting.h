// Biases that add up over the tokens between a query and a key: the common part of FoX and CABLE.
//
//   s_ij = scale q_i . k_j + c_i - c_j,   c_t = f_0 + ... + f_t,   f_t = -softplus(-sign (w_h . x_t + b_h)) <= 0
//
// It costs two more channels: [q, 1, c_i] . [k, -c_j, 1]. Without a causal mask, keys to the right have gates of their
// own, f'_t, and the bias c'_j - c'_i, unless there is no w.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

class ForgettingGates : public Encoding {
 public:
  // Parameters w: (C, H), if gates read the content, and b: (H); (C, 2 H) and (2 H) for two sides. sign: 1 or -1.
  ForgettingGates(const Params&, const ModelShape&, bool content, double b, int sign, bool scaled = true);
  Scores scores(const Heads&, const Positions&) const override;
  Tensor bias_of_zero_states(const ModelShape&, const Positions&) const;   // where all states are 0: (H, T, T)

 private:
  Tensor w_, b_;
  int sign_;
  bool causal_, scaled_;
};

PairPicture gate_picture(const ModelShape&, const Choices&);   // of bias_of_zero_states()

}  // namespace poslab
