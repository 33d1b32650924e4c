// The position matrices: the value of a scheme for each pair of slots, with its present parameters.
// The report draws them before and after training.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

// m_ij of query i and key j: (1 or H, T, T) of each layer; one alone where all layers have the same. A scheme that adds
// to the embedding has the cosine of the two vectors that it adds (0 for a vector of zeros).
std::vector<Tensor> position_matrices(const PositionLayers&, const ModelShape&, const PositionSample&);
Quantity quantity_of(const PositionLayers&, int layer);   // in the matrix of that layer
std::string words(Quantity);                              // "what is added to the logit"

}  // namespace poslab
