// What schemes have in common: the plain product of queries and keys, and its softmax.
#include "encodings/encoding.h"

#include <cmath>

namespace poslab {

// s_ij = q_i . k_j / sqrt(D)
Scores Encoding::scores(const Heads& in, const Positions&, int) const {
  Scores s;
  s.pieces = {{in.q, in.k}};
  s.scale = real(1 / std::sqrt(double(in.q.dim(-1))));
  return s;
}

Tensor Encoding::attend(const Heads& in, const Tensor& v, const Positions& p, int layer, const Span& span) const {
  return attention(scores(in, p, layer), v, span);
}

Tensor Encoding::weights(const Heads& in, const Positions& p, int layer, const Span& span) const {
  return attention_weights(scores(in, p, layer), span);
}

}  // namespace poslab
