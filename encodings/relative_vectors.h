// Vectors for each distance, multiplied by queries and keys and added to values: the common part of Shaw, Huang, BERT
// and DeBERTa.
//
//   s_ij = scale (q_i . k_j + q_i . a[d_ij] + k_j . b[d_ij]),   o_i = sum_j w_ij (v_j + c[d_ij])       d_ij = p_j - p_i
//
// Fused attention computes the term of a; b and c need whole logits and weights.
#pragma once
#include <functional>
#include <memory>
#include <vector>

#include "encodings/encoding.h"
#include "encodings/rows_at.h"

namespace poslab {

// The vectors of some distances: (N, 1 or H, D), for values (N, 1, D).
using DistanceVectors = std::function<Tensor(const std::vector<double>& distances)>;
struct RelativeVectors {
  double scale;
  DistanceVectors queries{}, keys{}, values{};     // a, b, c; absent: there is no such term
};
std::unique_ptr<Encoding> relative_vectors(RelativeVectors);

// For each pair of a query in the last `queries` slots and a key, its row in the list of distances: (1 or B, Tq, Tk).
Ids rows_of_pairs(const Distances&, int queries, int keys);
// The rows' numbers looked up for each pair: (N, H) -> (1 or B, H, Tq, Tk)
Tensor at_pairs(const Tensor& rows, const Ids& pairs);

}  // namespace poslab
