// The gated attention unit (Hua et al. 2022, arXiv 2202.10447) as in Su's experiments (Su 2023; spec C.3): one head, a
// softmax, post-norm with the scaling of DeepNorm (Wang et al. 2022, arXiv 2203.00555). Two units replace the
// attention and the feed-forward network of a block.
//
//   u = silu(x wu)   v = silu(x wv)   z = silu(x wz)                  x: (B, T, C)   u, v: (B, T, E)   z: (B, T, D)
//   q = z q_gain + q_bias   k = z k_gain + k_bias   o = (u * A v) wo,   A = softmax of the scheme's logits of q and k
//   x <- rms_norm(alpha x + dropout(o)),   alpha = layers^(1/4)
//
// DeepNorm counts two sub-layers per layer, but a unit is only one: its (2 layers)^(1/4) and (8 layers)^(-1/4) become
// layers^(1/4), and (4 layers)^(-1/4) for the initial size of wu, wv and wo.
#pragma once
#include "autograd/ops.h"
#include "nn/block.h"
#include "nn/key_value_cache.h"

namespace poslab {

struct GauSpec {
  int d_model, head_dim, width, layer, layers;   // C, D, E; unit `layer`, from 0, of `layers`
  double epsilon;                                // of the norm
};

class Gau {
 public:
  Gau(Params, GauSpec);
  // (B, T, C) -> (B, T, C). With a cache the tokens follow the cached ones and are appended to it.
  Tensor operator()(const Tensor& x, const LayerPass&, KeyValueCache*) const;
  Gau at(int layer) const;   // this unit in a later loop; layer: its number there, in a trace and a cache

 private:
  GauSpec spec_;
  std::string name_;                               // "block2"
  Tensor wu_, wv_, wz_, wo_;                       // (C, E) twice, (C, D), (E, C)
  Tensor q_gain_, q_bias_, k_gain_, k_bias_;       // (D)
  Tensor gain_;                                    // (C)
};

}  // namespace poslab
