// Sequences of several documents, one after the other: each has the positions and the attention that it would have
// alone. All else is computed for all tokens at once.
#pragma once
#include <functional>

#include "encodings/sampler.h"

namespace poslab {

// of(from, to, positions): the result of one document, (1, to - from, ...), at these slots of the sequences joined to
// one, (1, B T, ...). They are joined to (B, T, ...). Throws BadInput unless the documents fill B sequences of T slots.
using OfDocument = std::function<Tensor(int from, int to, const PositionSample&)>;
Tensor join_documents(const PositionSample&, int B, int T, const OfDocument& of);

// x (B, T, ...) -> its slots from .. to - 1 of the B T, (1, to - from, ...)
Tensor document_of(const Tensor& x, int from, int to);

}  // namespace poslab
