// NoPE: no position signal. Without a mask the network cannot tell the order: permuting the tokens permutes the
// outputs. With a causal mask it can count, through the mask (Kazemnejad et al. 2023).
#include "encodings/encoding.h"

namespace poslab {

extern const SchemePages none_pages;
Scheme none() {
  return {.name = "none", .laws = always(Laws{.two_sided = true}), .pages = none_pages};
}

// -- for pages
static const OtherNames words_for_none("none", {"nope"});

const SchemePages none_pages = {
    .summary = "no position signal (NoPE); only a causal mask can tell the order",
    .about = R"(The model is given no positions: a slot differs from another only by its symbol. Without
a causal mask such a model cannot tell the order at all; with one it can count the slots before it.
It is the baseline that shows what positions are worth.)",
    .formula = "s_ij = q_i . k_j / sqrt(D)", .source = "Ruoss et al. 2023, table 1"};

}  // namespace poslab
