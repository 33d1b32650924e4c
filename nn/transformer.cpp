#include "nn/transformer.h"

#include <algorithm>
#include <cmath>

#include "core/error.h"

namespace poslab {
namespace {

TransformerSpec require_valid(TransformerSpec s) {
  if (s.layers < 1 || s.heads < 1 || s.d_model < 1 || s.ffn_multiplier < 1 || s.loops.value_or(1) < 1)
    bad_input("transformer: layers {}, heads {}, d_model {}, ffn_multiplier {}, loops {}; all must be at least 1",
              s.layers, s.heads, s.d_model, s.ffn_multiplier, s.loops.value_or(1));
  if (s.d_model % s.heads)
    bad_input("transformer: {} heads do not divide d_model {}; choose heads so that d_model / heads is whole", s.heads,
              s.d_model);
  return s;
}

}  // namespace

Transformer::Transformer(Params p, TransformerSpec s) : spec_(require_valid(std::move(s))) {
  const int C = spec_.d_model;
  embedding_ = p.truncated_normal("embedding", {spec_.symbols_in, C}, 0.02);
  encoding_ = std::make_shared<const PositionLayers>(p / "encoding", spec_.encoding, spec_.shape());
  temperature_ = temperature_layers(p / "temperature", spec_.temperature, spec_.shape());
  for (int i = 0; i < spec_.layers; ++i)
    blocks_.emplace_back(p / ("block" + std::to_string(i)),
                         BlockSpec{spec_.heads, C, spec_.ffn_multiplier, i, spec_.causal});
  head_w_ = (p / "head").truncated_normal("w", {C, spec_.symbols_out}, 1 / std::sqrt(double(C)));
  head_b_ = (p / "head").full("b", {spec_.symbols_out}, 0);
}

// h = sqrt(C) embed(x) (+ positions, dropout), blocks, head; no norm at the end (spec A.1 (2), B.3)
Tensor Transformer::operator()(const Ids& tokens, int outputs, const Pass& pass) const {
  if (tokens.shape().size() != 2)
    bad_input("transformer: tokens have shape {}; they must be (B, T)", to_string(tokens.shape()));
  const int T = tokens.shape()[1];
  if (outputs < 1 || outputs > T) bad_input("transformer: {} output slots of {}; ask for 1 to {}", outputs, T, T);
  pass.positions.begin_pass();
  Dropout drop = pass.dropout;
  const Tensor rows = embedding_ * std::sqrt(double(spec_.d_model));   // scales a few rows instead of all tokens
  BlockInput in = embed_tokens(rows, tokens, pass.trace);
  if (encoding_->embed) in = {dropout(encoding_->embed(in.x, pass.positions.at_embedding()), drop)};
  in.x = expose(pass.trace, "embedding", "", in.x);
  const std::vector<std::optional<LayerTerms>> terms =
      fused_terms(*encoding_, temperature_, pass.positions,
                  {spec_.heads, spec_.d_model / spec_.heads, rows.device()}, pass.trace);
  const Tensor input = in.x;
  const auto empty = std::count(tokens.data(), tokens.data() + T, spec_.symbols_in - 1);   // the same in each row
  const int blocks = spec_.blocks(std::max(1, T - int(empty)));
  for (int n = 0; n < blocks; ++n) {
    const int layer = n % spec_.layers;
    if (n > 0 && layer == 0) in = {in.x + input};
    drop.stream.site = pass.dropout.stream.site + 1 + 2 * uint32_t(n);     // a block draws twice
    const int queries = n + 1 == blocks ? outputs : T;        // no result reads the last block's other slots
    const LayerPass of_layer{*encoding_->layers[size_t(layer)], temperature_[size_t(layer)],
                             pass.positions.at_layer(layer), drop, pass.trace, nullptr, n - layer};
    in.terms = terms[size_t(layer)];
    in = {blocks_[size_t(layer)](in, queries, of_layer)};
  }
  return expose(pass.trace, "logits", "", linear(in.x, head_w_, head_b_));
}

}  // namespace poslab
