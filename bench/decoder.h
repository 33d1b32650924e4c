// The cost of ReRoPE beside RoPE: it computes the logits in two pieces (Su 2023; spec A.4 (21)).
#pragma once

namespace poslab {

// Prints two tables, medians of turns. Attention of one layer over T tokens at once: 8 heads of 32 channels, a causal
// mask, the rotations in it. And one more token after T cached ones, in the causal decoder at its standard size: 6
// layers of width 256, 256 tokens.
void time_decoder();

}  // namespace poslab
