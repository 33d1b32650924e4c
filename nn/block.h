// One post-norm encoder block (spec B.3):
//   x <- norm(x + dropout(attention(x)))                                                        x: (B, T, C)
//   x <- norm(x + dropout(w2 relu(w1 x + b1) + b2))
// Projections q, k, v, o have no bias; dropout comes after the attention's output, not on the weights.
#pragma once
#include "nn/fused.h"

namespace poslab {

struct BlockSpec { int heads, d_model, ffn_multiplier, layer; bool causal; };   // layer: its number, from 0

// The arguments of one layer in a forward pass, besides its input.
struct LayerPass {
  const Encoding& encoding;
  const Temperature& temperature;
  const Positions& positions;
  Dropout dropout;       // dropout after the first sub-layer; after the second it uses the next site
  Trace* trace = nullptr;
  const PositionSample* documents = nullptr;   // if sequences have several documents, read in place of `positions`
  int earlier = 0;       // number of blocks in earlier loops: a trace counts this block after them
  Dropout second_dropout() const {
    Dropout d = dropout;
    ++d.stream.site;
    return d;
  }
};

class EncoderBlock {                               // not just Block: poslab::Block is a piece of memory
 public:
  EncoderBlock(Params, BlockSpec);
  // Computes only the last `num_queries` of the T slots: (B, T, C) -> (B, num_queries, C). The other slots are read as
  // keys and values.
  Tensor operator()(const BlockInput&, int num_queries, const LayerPass&) const;

 private:
  // x, mixed: as in Attended (nn/fused.h)
  Tensor after_attention(const Tensor& x, const Tensor& mixed, const LayerPass&) const;

  std::string name(const LayerPass& pass) const { return "block" + std::to_string(spec_.layer + pass.earlier); }

  BlockSpec spec_;
  BlockWeights w_;                                // matrices are stored (in, out)
};

}  // namespace poslab
