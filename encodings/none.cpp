// NoPE: no position signal. Without a mask the network then cannot tell an order: permuting the tokens permutes the
// outputs. With a causal mask it can count, through the mask (Kazemnejad et al. 2023).
#include "encodings/encoding.h"

namespace poslab {

Scheme none() {
  return {"none", "no position signal (NoPE); only a causal mask can tell the order", "Ruoss et al. 2023, table 1",
          false, [](Params, const EncodingSpec&) { return std::make_unique<Encoding>(); }};
}

}  // namespace poslab
