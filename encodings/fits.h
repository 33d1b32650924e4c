// Whether a scheme can work in a model.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

// Throws BadInput, with the reason and a remedy, if the scheme needs a causal mask that the model does not have, or if
// Scheme::check refuses the model.
void check_fits(const Chosen<Scheme>&, const ModelShape&);

}  // namespace poslab
