// A causal language model built like LLaMA (Touvron et al. 2023) and its relatives from pre-norm blocks with a gated
// feed-forward network and grouped-query attention, or from gated attention units as in Su's experiments (nn/gau.h).
// Accepts any scheme, sampler and temperature. Decoding token by token matches the full pass. With stored weights
// (core/params.h) it runs an external checkpoint as its file stores it. Leaves out: encoders.
#pragma once
#include <memory>
#include <vector>

#include "nn/decoder_block.h"
#include "nn/gau.h"
#include "nn/transformer.h"

namespace poslab {

struct DecoderSpec {
  int vocabulary = 256;
  int layers = 6, heads = 8, key_heads = 8, d_model = 256, d_ff = 688;
  int loops = 1;                                 // how many times a pass goes through the blocks
  int head_dim = 0;                              // size of a query, key or value; 0: d_model / heads
  bool biases = false;                           // whether queries, keys and values have biases
  bool output_bias = false;                      // of attention's output projection
  bool tied = false;                             // whether the head is the embedding, transposed
  double epsilon = 1e-5;                         // of RMSNorm: 1e-5 or 1e-6
  QueryKeyNorm query_key_norm = QueryKeyNorm::none;
  NormPlace norms = NormPlace::before;
  Activation gate = Activation::silu;            // activation of the feed-forward network: gelu_tanh in Gemma
  double embedding_scale = 1;                    // factor on the embedding, but not on a head that is tied to it;
                                                 // sqrt(d_model) in Gemma
  double logit_cap = 0;                          // c: logits are c tanh(z / c), as in Gemma 2; 0: z
  int gau = 0;                                   // width of the one head of gated attention units; 0: LLaMA's blocks.
                                                 // d_ff is then the width of their values: 2 d_model in the source
  int pool = 2048, first = 0;                    // positions are first .. first + pool - 1: a learned table's rows
  std::vector<int> windows{};                    // for each layer, how many keys a query sees, counted back from its
                                                 // own slot; 0: all. Empty: all in each layer
  Chosen<Scheme> encoding{};                     // NoPE, unless another is given
  Chosen<TemperaturePolicy> temperature{};       // none, unless another is given
  int blocks() const { return layers * loops; }  // of a pass: block0 ... in a trace
  ModelShape shape() const {
    ModelShape m{layers, heads, gau ? gau : d_model, true, pool, first};
    m.head_width = head_dim;
    return m;
  }
};

class Decoder {
 public:
  // Parameters: embedding, encoding..., temperature..., block0 ..., norm.gain with LLaMA's blocks, and head.w unless it
  // is tied. Throws BadInput for sizes that do not fit, for gated attention units with a scheme that reads or changes
  // states, and for windows with a scheme that may ignore them.
  Decoder(Params, DecoderSpec);
  // tokens (B, T) -> logits of the token after each of the last `outputs` slots (B, outputs, vocabulary). Loops are as
  // in nn/transformer.h, where h is the sum that the blocks add to; the last norm comes after all of them.
  Tensor operator()(const Ids& tokens, int outputs, const Pass&) const;
  // operator() in two steps, for a text whose logits do not fit into memory at once: the states of all slots after the
  // last block (B, T, d_model), and the logits of any n of these states (B, n, vocabulary).
  Tensor states(const Ids& tokens, const Pass&) const;
  Tensor logits(const Tensor& states) const;

  // Decoding: cache() has room for `capacity` tokens in each sequence. decode() reads the next n >= 1 tokens (B, n) and
  // returns the logits of the last `outputs`, equal to a full pass over all tokens. pass.positions has a position for
  // every token, cached ones included. If a scheme or sampler depends on the number of slots (Laws::by_length,
  // Sampler::by_length), the cached keys of all layers after the first were made at earlier lengths. Records nothing.
  KeyValueCache cache(int sequences, int capacity) const;
  Tensor decode(const Ids& tokens, int outputs, const Pass&, KeyValueCache&) const;

  const DecoderSpec& spec() const { return spec_; }
  Device device() const { return embedding_.device(); }
  const PositionLayers& encoding() const { return *encoding_; }
  // This model with another scheme or temperature at test; both share the weights. Throws BadInput for one that has
  // parameters, which were not trained.
  Decoder with_encoding(const Chosen<Scheme>&) const;
  Decoder at_temperature(const Chosen<TemperaturePolicy>&) const;
  Decoder with_loops(int) const;                 // a copy with this many loops and shared weights

 private:
  Tensor run(const Ids& tokens, int outputs, const Pass&, KeyValueCache*) const;
  DecoderSpec spec_;
  Weight embedding_, head_;                      // a table (V, C); (C, V), absent if it is tied
  Tensor gain_;                                  // (C), absent with units
  std::shared_ptr<const PositionLayers> encoding_;
  std::vector<Temperature> temperature_;
  std::vector<DecoderBlock> blocks_;             // of all loops: LLaMA's blocks, or
  std::vector<Gau> units_;                       // gated attention units
};

}  // namespace poslab
