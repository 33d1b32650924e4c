// The encoder of the randomized-positions paper (Ruoss et al. 2023, appendix A; spec B.3): post-norm, 5 blocks of width
// 64 with 8 heads, 249,026 parameters. Leaves out: decoders, autoregression.
#pragma once
#include <memory>
#include <optional>
#include <vector>

#include "core/params.h"
#include "nn/block.h"

namespace poslab {

struct TransformerSpec {
  int symbols_in = 3;        // embedding rows, "empty" included
  int symbols_out = 2;
  int layers = 5, heads = 8, d_model = 64;
  // How many times a pass goes through the layers; none: as many times as the input has symbols besides "empty".
  std::optional<int> loops = 1;
  int ffn_multiplier = 4;          // d_ff / d_model
  bool causal = false;
  int pool = 2048, first = 0;                    // positions are first .. first + pool - 1
  Chosen<Scheme> encoding;                       // NoPE, unless another is given
  Chosen<TemperaturePolicy> temperature;         // none, unless another is given
  ModelShape shape() const { return {layers, heads, d_model, causal, pool, first}; }
  int blocks(int symbols) const { return layers * loops.value_or(symbols); }   // of a pass: block0 ... in a trace
};

// The arguments of a forward pass besides tokens: positions, dropout, and a Trace if activations are to be seen.
struct Pass {
  const PositionSample& positions;
  Dropout dropout;           // each dropout of the model draws at stream.site + its own index
  Trace* trace = nullptr;    // changes results only if it replaces an activation
};

class Transformer {
 public:
  Transformer(Params, TransformerSpec);
  // tokens (B, T) -> logits of the last `outputs` slots (B, outputs, symbols_out). The last block skips other slots.
  // Each loop: h <- layers(h + embedding), with h = 0 at first (Dehghani et al. 2019; Fan et al. 2024).
  Tensor operator()(const Ids& tokens, int outputs, const Pass&) const;
  const TransformerSpec& spec() const { return spec_; }
  const PositionLayers& encoding() const { return *encoding_; }
  // This model with other layers of positions, one for each block; both share the weights.
  Transformer with_layers(std::shared_ptr<const PositionLayers>) const;
  Transformer with_loops(std::optional<int>) const;   // a copy with this many loops and shared weights
  // This model with another temperature; both share the weights. Throws BadInput for a policy that has parameters.
  Transformer at_temperature(const Chosen<TemperaturePolicy>&) const;

 private:
  TransformerSpec spec_;
  Tensor embedding_, head_w_, head_b_;
  std::shared_ptr<const PositionLayers> encoding_;   // copies of a model share it
  std::vector<Temperature> temperature_;
  std::vector<EncoderBlock> blocks_;
};

}  // namespace poslab
