// A post-norm encoder block (formulas: nn/block.h) as one op, and its half after attention, for devices that have a
// kernel for it (core/kernels.h, BlockArgs). Without a kernel for these sizes they return an absent tensor: then the
// caller goes on op by op, as nn/block.cpp does. BadInput names the op and the shapes when these do not fit together.
#pragma once
#include "autograd/ops.h"

namespace poslab {

struct BlockWeights {
  Tensor query, key, value, output;        // (C, C)
  Tensor gain1, bias1, w1, b1, w2, b2, gain2, bias2;   // (C), (C), (C, d_ff), (d_ff), (d_ff, C), (C), (C), (C)
};
// The terms of an encoding in a layer's logits, if they do not depend on the states and all pairs of slots at the same
// distance read the same row. Each may be absent.
struct LayerTerms {
  real scale = 0;                          // of content and relative logits; 0: 1 / sqrt(D)
  Rotation rotation{};                     // of queries and keys: (1 or B, T, D/2)
  Pairing pairing = Pairing::interleaved;
  Tensor r{}, bias{};                      // as in Scores, N = 2T - 1; q_rel is q
  QueryBiases add{};
};
Scores scores_of(const LayerTerms&, const Tensor& q, const Tensor& k);  // queries are the last of the slots

// The last `queries` slots: x (B, T, C) -> (B, queries, C)
struct BlockSizes { int heads, queries; bool causal; };
Tensor encoder_block(const Tensor& x, const BlockWeights&, const LayerTerms&, const BlockSizes&,
                     Dropout after_attention, Dropout after_ffn);
// The half after attention: x and attention's result `mixed`, (..., C) each -> (..., C). Reads no query, key or value.
bool encoder_tail_fits(const Tensor& x, int rows, const BlockWeights&);   // whether a kernel takes `rows` rows of C
Tensor encoder_tail(const Tensor& x, const Tensor& mixed, const BlockWeights&, Dropout after_attention,
                    Dropout after_ffn);

}  // namespace poslab
