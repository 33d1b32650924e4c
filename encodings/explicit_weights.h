// Schemes that the fused attention cannot run: their weights a_ij are a tensor, (B, H, Tq, Tk), made of ops.
//
//   ExplicitWeights   has weights of its own                                            geometric, stick-breaking
//   WholeLogits       reads or changes whole logits; their softmax gives the weights    CoPE, DAPE, DeBERTa
//
// For a gradient they keep at least 3 B H Tq Tk numbers, CoPE three times and DAPE ten times that. A step of 40 slots
// takes 1.5 to 5 times as long as without positions. Such a scheme declares this memory in `SchemeCost::matrices`.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

Tensor by_head(const Tensor& x);                   // (B, T, H, D) -> (B, H, T, D) and back

class ExplicitWeights : public Encoding {
 public:
  Tensor weights(const Heads&, const Positions&, const Span&) const override = 0;
  // sum_j a_ij v_j, a few sequences at a time
  Tensor attend(const Heads&, const Tensor& v, const Positions&, const Span&) const override;
  // Statistics of the weights, and of the logits if the scheme has logits.
  Tensor statistics(const Heads&, const Positions&, const Span&) const override;
  // The base has no logits: throws BadInput.
  Tensor logits(const Heads&, const Positions&, const Span&) const override;

 protected:
  // o_i, (B, H, Tq, D), from weights (B, H, Tq, Tk) and values (B, H, Tk, D). The base: sum_j a_ij v_j.
  virtual Tensor mix(const Tensor& a, const Tensor& v, const Positions&) const;
  virtual bool has_logits() const { return false; }

 private:
  // Calls work(heads) for a few sequences at a time, so that matrices of logits stay small (explicit_weights.cpp).
  template <class Work>
  Tensor in_parts(const Heads&, const Positions&, const Span&, const Work&) const;
};

class WholeLogits : public ExplicitWeights {
 public:
  Tensor logits(const Heads&, const Positions&, const Span&) const override;
  Tensor weights(const Heads&, const Positions&, const Span&) const override;

 protected:
  bool has_logits() const override { return true; }
  // s_ij before temperature and mask, (B, H, Tq, Tk); finite for masked pairs too, where its value does not matter.
  virtual Tensor pairs(const Heads&, const Positions&, const Span&) const = 0;
};

// q_i . k_j / sqrt(D)                                                                                (B, H, Tq, Tk)
Tensor products(const Heads&);
// s_ij times the temperature's factor of query i                                                     (B, H, Tq, Tk)
Tensor at_temperature(const Tensor& s, const Heads&);
// 1 where query i may see key j, else 0                                                           (1 or B, 1, Tq, Tk)
Tensor seen(const Heads&, const Positions&, const Span&);

}  // namespace poslab
