// Grouped-query attention (Ainslie et al. 2023, arXiv 2305.13245): H query heads read G key heads, head h reads key
// head h / (H / G). Fused attention (autograd/ops.h) reads such keys directly, and so do schemes that only rotate
// queries and keys or add a bias. Other schemes expect a key for every head, and get each key repeated.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

// Each head repeated next to itself, heads / G times; x itself for G = heads.   (B, T, G, D) -> (B, T, heads, D)
Tensor repeat_heads(const Tensor& x, int heads);
// The same queries and keys, with the key heads repeated if the encoding cannot read fewer than H at these positions.
Heads fit_key_heads(const Encoding&, Heads, const Positions&);
// Whether the encoding may read states of the keys (Heads::x_keys), so that decoding has to keep them. False for the
// classes that grouped_heads.cpp names.
bool reads_states(const Encoding&);

}  // namespace poslab
