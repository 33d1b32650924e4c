// One pre-norm block as in LLaMA (Touvron et al. 2023, arXiv 2302.13971), with grouped-query attention:
//
//   s <- s + attention(y) wo,                    y = rms_norm(s)                                     s, y: (B, T, C)
//   s <- s + (silu(y w1) * (y w3)) w2,           y = rms_norm(s)                                     no biases
//
// Queries, keys and values may have biases, as in Qwen 2, and so may wo; a query may see only a window of keys, as in
// Mistral; queries and keys may be normalized before any position enters. The other norms may also follow their
// sub-layer (NormPlace). A sum and its norm are one op, so a block gets the norm of its input and computes the norm of
// the next block's input.
#pragma once
#include "autograd/ops.h"
#include "nn/block.h"
#include "nn/feed_forward.h"
#include "nn/key_value_cache.h"
#include "nn/weight.h"

namespace poslab {

// RMSNorm of queries and keys, each with its own gain (Henry et al. 2020; Dehghani et al. 2023): for each head, as in
// Qwen 3 and Gemma 3, or for all heads together, as in OLMo 2.
enum class QueryKeyNorm { none, each_head, all_heads };
// The RMSNorms of a sub-layer f, attention or feed-forward:
//
//   before     s + f(norm(s))              LLaMA
//   after      s + norm(f(s))              OLMo 2
//   around     s + norm(f(norm(s)))        Gemma 2 and 3, each norm with its own gain
enum class NormPlace { before, after, around };

struct DecoderBlockSpec {
  int heads, key_heads, head_dim, d_model, d_ff, layer, layers;   // block `layer`, from 0, of `layers`
  bool biases, output_bias;   // biases of queries, keys and values; of wo
  int window;                 // keys that a query sees; 0: all
  double epsilon;             // of the norms
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  NormPlace norms = NormPlace::before;
  Activation gate = Activation::silu;
};

class DecoderBlock {
 public:
  DecoderBlock(Params, DecoderBlockSpec);
  // in: the sum s so far, and y, its norm by norm_gain(). Returns s after the block, and its norm by `next_gain`. Where
  // such a gain is absent, y is s itself. With a cache the T tokens follow the cached ones and are appended to it.
  ResidualNorm operator()(const ResidualNorm& in, const Tensor& next_gain, const LayerPass&, KeyValueCache*) const;
  const Tensor& norm_gain() const { return gain1_; }  // absent with NormPlace::after
  DecoderBlock at(int layer) const;   // this block in a later loop; layer: its number there, in a trace and a cache

 private:
  Tensor attend(const Tensor& y, const LayerPass&, KeyValueCache*) const;
  Tensor normalize(const Tensor& x, const Tensor& gain) const;  // x itself without a gain
  Tensor normalize_heads(const Tensor& x, const Tensor& gain, int heads) const;
  DecoderBlockSpec spec_;
  std::string name_;                               // "block2"
  Tensor gain1_, gain2_;                           // (C), or absent: before attention, before feed-forward
  Tensor gain_after1_, gain_after2_;               // (C), or absent: after attention, after feed-forward
  Tensor query_gain_, key_gain_;                   // (D) for each head, (H D) and (G D) for all, or absent
  Weight query_, key_, value_, output_;            // (C, H D), (C, G D) twice, (H D, C)
  Tensor query_bias_, key_bias_, value_bias_, output_bias_;   // (H D), (G D) twice, (C), or absent
  FeedForward gated_;
};

}  // namespace poslab
