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

Tensor join_documents(const PositionSample& positions, int B, int T, const DocumentResult& result) {
  const PositionSample::Documents& all = positions.documents();
  if (int(all.size()) != B) bad_input("documents: lists for {} sequences, but the batch has {}", all.size(), B);
  std::vector<Tensor> parts;
  int at = 0;
  for (const std::vector<int>& sequence : all) {
    if (const int n = std::accumulate(sequence.begin(), sequence.end(), 0); n != T)
      bad_input("documents: {} tokens in a sequence of {}; they must fill it", n, T);
    for (const int n : sequence) parts.push_back(result(at, at + n, positions.of_document(n))), at += n;
  }
  const Tensor joined = concat(parts, 1);
  Shape shape = joined.shape();
  shape[0] = B, shape[1] = T;
  return joined.reshape(shape);
}

Tensor mix_documents(const std::string& name, int layer, const LayerPass& pass, const Heads& in, const Tensor& v,
                     const Mix& mix) {
  if (!pass.documents) return mix(in, v, pass);
  const std::string of = name + ".attention.";
  for (const char* part : {"weights", "statistics", "logits"})
    if (pass.trace && pass.trace->wants(of + part))
      bad_input("trace: {}{}: documents are packed, and each has {} of its own; look at {}heads, or at one document",
                of, part, part, of);
  const Tensor joined = join_documents(
      *pass.documents, in.q.dim(0), in.q.dim(1), [&](int from, int to, const PositionSample& positions) {
        const auto part = [&](const Tensor& t) { return t ? document_of(t, from, to) : t; };
        return mix({part(in.q), part(in.k), part(in.x), part(in.x_keys)}, part(v),
                   {pass.encoding, pass.temperature, positions.at_layer(layer), pass.dropout, nullptr});
      });
  return expose(pass.trace, name, ".attention.heads", joined);
}

}  // namespace poslab
