// T5 (Raffel et al. 2020; v1.1: Shazeer 2020): an encoder that reads a text and a causal decoder that writes one, with
// pre-norm blocks, no biases, and cross-attention without positions. It accepts any scheme and sampler for both
// self-attentions, and a temperature for the encoder's alone (spec A.3 (16)). Decoding token by token matches the full
// pass. With stored weights (core/params.h) it runs an external checkpoint as its file stores it. Leaves out: dropout
// of attention's weights, of the hidden layer and of the embedding.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "nn/t5_block.h"
#include "nn/transformer.h"

namespace poslab {

struct T5Spec {                                  // defaults: T5-small
  int vocabulary = 32128;
  int layers = 6, decoder_layers = 6, heads = 8;
  int head_dim = 64;                             // size of a query, key or value; heads * head_dim need not be d_model
  int d_model = 512, d_ff = 2048;
  std::optional<Activation> gate{};              // activation of the gate: gelu_tanh in v1.1; absent: no gate, v1.0
  Activation activation = Activation::relu;      // without a gate
  bool tied = true;                              // whether the head is the embedding, transposed (v1.0)
  std::optional<bool> scaled{};                  // the head's input is multiplied by 1 / sqrt(d_model); absent: if tied
  double epsilon = 1e-6;                         // of RMSNorm
  int start = 0;                                 // the first token of decoding, which also pads
  int pool = 2048, first = 0;                    // positions are first .. first + pool - 1: a learned table's rows
  Chosen<Scheme> encoding = choose_encoding("t5:unscaled");
  Chosen<TemperaturePolicy> temperature{};       // none, unless another is given
  ModelShape shape(bool decoder) const {
    ModelShape m{decoder ? decoder_layers : layers, heads, d_model, decoder, pool, first};
    m.head_width = head_dim;
    return m;
  }
};

// The cache for decoding: keys and values of the tokens so far, and of the encoder's states, projected once.
struct T5Cache {
  KeyValueCache self;
  std::vector<T5Memory> memory;                  // of each layer
};

class T5 {
 public:
  // Parameters: embedding; encoder.encoding..., encoder.temperature..., encoder.block0 ..., encoder.norm.gain; the same
  // of the decoder, which has no temperature; and head.w unless it is tied. Throws BadInput for sizes below 1, a start
  // outside the vocabulary, and a scheme that cannot work without a causal mask.
  T5(const Params&, T5Spec);
  // tokens (B, T) -> states (B, T, d_model). lengths (B): how many of a row's tokens count; the rest is padding;
  // absent: all. The states of padding are undefined.
  Tensor encode(const Ids& tokens, const Ids& lengths, const Pass&) const;
  // read (B, n): the start token and the answer without its last token -> logits (B, n, vocabulary)
  Tensor decode(const Ids& read, const Tensor& states, const Ids& lengths, const Pass&) const;

  // Decoding: cache() has room for `capacity` tokens in `beams` sequences for each sequence of states, one after the
  // other. step() reads the next n >= 1 tokens (B beams, n) and returns the logits of the last (B beams, 1,
  // vocabulary), equal to a full pass. pass.positions has a position for every token, cached ones included. If a scheme
  // or sampler depends on the number of slots (by_length), the cache holds keys of earlier lengths. Records nothing.
  T5Cache cache(const Tensor& states, const Ids& lengths, int capacity, int beams = 1) const;
  Tensor step(const Ids& newest, const Pass&, T5Cache&) const;

  const T5Spec& spec() const { return spec_; }
  const PositionLayers& encoding() const { return *encoder_.encoding; }          // of the encoder
  // This model with another scheme or temperature at test; both share the weights. Throws BadInput for one that has
  // parameters, which were not trained. A model that was trained without 1 / sqrt(D) omits it in another scheme's
  // products of queries and keys too.
  T5 with_encoding(const Chosen<Scheme>&) const;
  T5 at_temperature(const Chosen<TemperaturePolicy>&) const;

 private:
  struct Stack {
    std::shared_ptr<const PositionLayers> encoding;
    std::vector<Temperature> temperature;
    std::vector<T5Block> blocks;
    Tensor gain;                                 // gain of the last norm, (C)
  };
  Stack stack(const Params&, bool decoder) const;
  // x = embed(tokens) (+ positions), blocks, rms_norm: (B, n, C)
  Tensor run(const Stack&, const Ids& tokens, const Ids& lengths, const Pass&, const std::vector<T5Memory>&,
             KeyValueCache*) const;
  Tensor logits(const Tensor& states) const;
  std::vector<T5Memory> memory(const Tensor& states, const Ids& lengths) const;
  T5Spec spec_;
  double query_factor_ = 1;                      // T5LayerPass::query_factor
  Weight embedding_, head_;                      // a table (V, C); (C, V), absent if it is tied
  Stack encoder_, decoder_;
};

}  // namespace poslab
