// One pre-norm block of T5 (Raffel et al. 2020, section 2.1), without biases:
//
//   s <- s + attention(y) wo,            y = rms_norm(s)                                     s, y: (B, T, C)
//   s <- s + cross_attention(y, m) wo,   y = rms_norm(s)          in the decoder only, m: (B, Tm, C) of the encoder
//   s <- s + feed_forward(y),            y = rms_norm(s)
//
// Cross-attention has no positions. As in nn/decoder_block.h a block gets the norm of its input and computes the norm
// of the next block's input.
#pragma once
#include "nn/block.h"
#include "nn/feed_forward.h"
#include "nn/key_value_cache.h"

namespace poslab {

struct T5BlockSpec {
  int heads, head_dim, d_model, d_ff, layer;   // layer: its number, from 0
  bool decoder;  // with a causal mask and cross-attention
  bool gated;
  Activation activation;
  bool unscaled;  // logits have no factor 1 / sqrt(D), which is in the initial W_q instead
  double epsilon;
};

// The encoder's states as a block of the decoder reads them: keys and values (B, Tm, H, D), and how many of each
// sequence count.
struct T5Memory {
  Tensor k, v;
  Ids lengths{};  // (B); absent: all
};

// The arguments of one block in a forward pass. A block draws dropout at three sites, in the encoder at the first two.
struct T5LayerPass {
  LayerPass self;
  double query_factor = 1;  // for a scheme at test whose logits have another scale than the trained ones
  Ids lengths{};            // how many tokens of each of the encoder's sequences count, (B); absent: all
  const T5Memory* memory = nullptr;   // only in the decoder
  KeyValueCache* cache = nullptr;     // null: no decoding step
};

class T5Block {
 public:
  T5Block(const Params&, const T5BlockSpec&);
  // in: the sum s so far, and y, its norm by norm_gain(). Returns s after the block, and its norm by `next_gain`. With
  // a cache the T tokens follow the cached ones and are appended to it. The memory may have fewer sequences than `in`:
  // each is then read by the same number of neighbouring sequences, as in beam search.
  ResidualNorm operator()(const ResidualNorm& in, const Tensor& next_gain, const T5LayerPass&) const;
  T5Memory memory(const Tensor& states, const Ids& lengths) const;   // the encoder's states (B, Tm, C) as a memory
  const Tensor& norm_gain() const { return gain1_; }

 private:
  struct Attention {
    Weight query, key, value, output;
  };  // (C, H D) three times, (H D, C)
  Attention attention(const Params&) const;
  Tensor in_heads(const Tensor& x, const Weight&) const;  // (B, n, C) -> (B, n, H, D)
  Tensor attend(const Tensor& y, const T5LayerPass&) const;
  Tensor attend_memory(const Tensor& y, const T5LayerPass&) const;
  T5BlockSpec spec_;
  std::string name_;                   // "encoder.block2"
  Tensor gain1_, gain_cross_, gain2_;  // (C)
  Attention self_, cross_;
  FeedForward feed_forward_;
};

}  // namespace poslab
