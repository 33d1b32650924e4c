// NoPE: no position signal. Without a mask the network then cannot tell an order: permuting the tokens permutes the
// outputs. With a causal mask it can count, through the mask (Kazemnejad et al. 2023).
#include "encodings/encoding.h"

namespace poslab {

Scheme none() {
  return {.name = "none",
          .summary = "no position signal (NoPE); only a causal mask can tell the order",
          .source = "Ruoss et al. 2023, table 1",
          .formula = "s_ij = q_i . k_j / sqrt(D)"};
}

}  // namespace poslab
