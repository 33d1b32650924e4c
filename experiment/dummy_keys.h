// Visible keys without content, which show the effect of the number of keys alone, at a trained length.
#pragma once
#include "nn/transformer.h"

namespace poslab {

// The model with the same weights and with `count` more keys in each layer, which every query sees: their logits and
// values are 0. With z_i the sum of exp(s_ij) over the other keys,
//
//   o_i <- o_i z_i / (z_i + count)
//
// For schemes whose weights are a softmax of their logits.
Transformer with_dummy_keys(const Transformer&, int count);

}  // namespace poslab
