// A post-norm encoder block (formulas: nn/block.h) as one op, and its half after attention as one op, for devices with
// such kernels (BlockArgs in core/kernels.h). Without a kernel for these sizes both return an absent tensor: the caller
// then runs the ops of the block, as nn/block.cpp does. BadInput names the op and the shapes that do not fit together.
#pragma once
#include "autograd/ops.h"

namespace poslab {

struct BlockWeights {
  Tensor query, key, value, output;        // (C, C)
  Tensor gain1, bias1, w1, b1, w2, b2, gain2, bias2;   // (C), (C), (C, d_ff), (d_ff), (d_ff, C), (C), (C), (C)
};
// The terms of an encoding in a layer's logits, if they do not depend on the states, and if pairs of slots at the same
// distance read the same row. Each tensor may be absent.
struct LayerTerms {
  real scale = 0;                          // factor on content and relative logits; 0: 1 / sqrt(D)
  Rotation rotation{};                     // rotates queries and keys: (1 or B, T, D/2)
  Pairing pairing = Pairing::interleaved;
  Tensor r{}, bias{};                      // as in Scores, without `pairs`: N = 2T - 1; q_rel is q
  QueryBiases biases{};                    // added to queries
};
Scores scores_of(const LayerTerms&, const Tensor& q, const Tensor& k);  // the queries are at the last of k's slots

struct BlockSizes { int heads, queries; bool causal; };   // queries: 1 .. T
// The block's result for the last `queries` slots: x (B, T, C) -> (B, queries, C)
Tensor encoder_block(const Tensor& x, const BlockWeights&, const LayerTerms&, const BlockSizes&,
                     Dropout after_attention, Dropout after_ffn);
// The half after attention, from x and attention's result `mixed`: (..., C) -> (..., C). Ignores query, key, value.
bool encoder_tail_fits(const Tensor& x, int rows, const BlockWeights&);   // whether a kernel fits `rows` rows of C
Tensor encoder_tail(const Tensor& x, const Tensor& mixed, const BlockWeights&, Dropout after_attention,
                    Dropout after_ffn);

}  // namespace poslab
