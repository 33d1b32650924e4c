#include "nn/documents.h"

#include <numeric>

#include "autograd/ops.h"
#include "core/error.h"

namespace poslab {

Tensor document_of(const Tensor& x, int from, int to) {
  Shape shape = x.shape();
  shape[1] *= shape[0], shape[0] = 1;
  return slice(x.reshape(shape), 1, from, to);
}

Tensor join_documents(const PositionSample& positions, int B, int T, const OfDocument& of) {
  const PositionSample::Documents& all = positions.documents();
  if (int(all.size()) != B) bad_input("documents: of {} sequences, and the batch has {}", all.size(), B);
  std::vector<Tensor> parts;
  int at = 0;
  for (const std::vector<int>& sequence : all) {
    if (const int n = std::accumulate(sequence.begin(), sequence.end(), 0); n != T)
      bad_input("documents: {} tokens in a sequence of {}; they must fill it", n, T);
    for (const int n : sequence) parts.push_back(of(at, at + n, positions.of_document(n))), at += n;
  }
  const Tensor joined = concat(parts, 1);
  Shape shape = joined.shape();
  shape[0] = B, shape[1] = T;
  return joined.reshape(shape);
}

}  // namespace poslab
