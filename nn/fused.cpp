#include "nn/fused.h"

#include "nn/block.h"

namespace poslab {

BlockInput embed_tokens(const Tensor& rows, const Ids& tokens, const Trace* trace) {
  BlockInput in{gather(rows, tokens)};
  const bool as_rows = rows.device() == Device::cpu && !(trace && trace->wants("embedding"));
  if (as_rows) in.table = rows, in.at = tokens;                // not on a GPU, where launches cost more than products
  return in;
}

std::vector<std::optional<LayerTerms>> fused_terms(const PositionLayers& encoding,
                                                   const std::vector<Temperature>& temperature,
                                                   const PositionSample& positions, const LayerShape& shape,
                                                   const Trace* trace) {
  std::vector<std::optional<LayerTerms>> terms(encoding.layers.size());
  if (trace || !kernels(shape.device).encoder_block) return terms;
  for (size_t l = 0; l < terms.size(); ++l)
    if (temperature[l].absent()) terms[l] = encoding.layers[l]->terms(positions.at_layer(int(l)), shape);
  return terms;
}

Tensor fused_block(const BlockInput& in, const BlockWeights& w, const BlockSizes& n, const LayerPass& pass,
                   const std::function<Attended()>& attended) {
  if (pass.trace) return {};
  const Dropout drop1 = pass.dropout, drop2 = pass.second_dropout();
  if (in.terms)
    if (const Tensor y = encoder_block(in.x, w, *in.terms, n, drop1, drop2)) return y;
  if (!encoder_tail_fits(in.x, in.x.dim(0) * n.queries, w)) return {};
  const auto [x, mixed] = attended();
  return encoder_tail(x, mixed, w, drop1, drop2);
}

}  // namespace poslab
