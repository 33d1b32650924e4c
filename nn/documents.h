// Sequences of several documents, one after the other: each document has the positions and the attention that it would
// have alone. Everything else is computed for all tokens at once.
#pragma once
#include <functional>

#include "nn/traced.h"

namespace poslab {

// The result of one document, (1, to - from, ...). from and to count slots of all sequences joined, (1, B T, ...).
using DocumentResult = std::function<Tensor(int from, int to, const PositionSample&)>;
// Joins result(from, to, positions) of all documents to (B, T, ...). Throws BadInput unless the documents fill B
// sequences of T slots.
Tensor join_documents(const PositionSample&, int B, int T, const DocumentResult& result);

// x (B, T, ...) -> its slots from .. to - 1 of the B T, (1, to - from, ...)
Tensor document_of(const Tensor& x, int from, int to);

// mix(in, v, pass); if the pass has documents, mix() of each document alone, joined. A trace then sees the heads, and
// throws BadInput if it reads weights, statistics or logits: each document has its own.
using Mix = std::function<Tensor(const Heads&, const Tensor& v, const LayerPass&)>;
Tensor mix_documents(const std::string& name, int layer, const LayerPass&, const Heads&, const Tensor& v, const Mix&);

}  // namespace poslab
