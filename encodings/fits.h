// Whether a scheme can work in a model.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

// Throws BadInput, with the reason and a remedy: it needs a causal mask, or Scheme::check refuses the model.
void check_fits(const Chosen<Scheme>&, const ModelShape&);

}  // namespace poslab
