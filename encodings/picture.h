// The position matrices: the value of a scheme for each pair of slots, with its current parameters.
// The report draws them before and after training.
#pragma once
#include "encodings/encoding.h"

namespace poslab {

// Queries, keys and states of one sequence with `content` in every channel, and the logits of all pairs: (H, T, T).
Heads all_alike(const ModelShape&, int time, double content);
Tensor logits_of(const Encoding&, const ModelShape&, const Positions&, double content);
// The layer, as the class that its scheme made.
template <class Layer>
const Layer& as(const Encoding& e) {
  return dynamic_cast<const Layer&>(e);
}

// m_ij of query i and key j: (1 or H, T, T) for each layer, or one if all layers are equal. For a scheme that adds to
// the embedding, the cosine of the two added vectors (0 for a vector of zeros).
std::vector<Tensor> position_matrices(const PositionLayers&, const ModelShape&, const PositionSample&);
// The same for one layer.
Tensor position_matrix(const PositionLayers&, const ModelShape&, const Positions&, int layer = 0);
Quantity quantity_of(const PositionLayers&, const ModelShape&, int layer);
std::string words(Quantity);                              // "the term added to the logit"

}  // namespace poslab
