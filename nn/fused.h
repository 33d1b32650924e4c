// Shortcuts of an encoder block, which change results by rounding only: on a GPU the whole block, or its half after
// attention, is one kernel (autograd/encoder_block.h); on a CPU embeddings are multiplied by weights once per symbol
// instead of once per token. Where no kernel fits, nn/block.cpp computes the block op by op.
#pragma once
#include <functional>
#include <optional>
#include <vector>

#include "autograd/encoder_block.h"
#include "encodings/temperature.h"
#include "nn/trace.h"

namespace poslab {

struct LayerPass;            // nn/block.h

struct BlockInput {
  Tensor x;                  // (B, T, C)
  Tensor table{};            // (N, C), or absent: x = gather(table, at)
  Ids at{};                  // (B, T), where there is a table
  std::optional<LayerTerms> terms{};   // the layer's encoding, if the device has a whole-block kernel
  Tensor project(const Tensor& w) const { return table ? gather(linear(table, w), at) : linear(x, w); }   // x w
};

// rows (N, C), tokens (B, T) -> gather(rows, tokens) as the input of the first block. The trace may be null.
BlockInput embed_tokens(const Tensor& rows, const Ids& tokens, const Trace*);

// LayerTerms of all layers; absent on a device without a whole-block kernel, and under a trace. They are
// computed before the first block, for all layers, so that their products share a launch.
std::vector<std::optional<LayerTerms>> fused_terms(const PositionLayers&, const std::vector<Temperature>&,
                                                   const PositionSample&, const LayerShape&, const Trace*);

// The block's input at the slots of the queries, and attention's result for them: (B, queries, C) each.
struct Attended { Tensor x, mixed; };
// The result of a block, (B, queries, C); absent where the device has no kernel for these sizes, and under a trace.
// `attended` is called if the half after attention is one kernel.
Tensor fused_block(const BlockInput&, const BlockWeights&, const BlockSizes&, const LayerPass&,
                   const std::function<Attended()>& attended);

}  // namespace poslab
