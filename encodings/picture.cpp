#include "encodings/picture.h"

#include <algorithm>
#include <cmath>

#include "autograd/tape.h"

namespace poslab {
namespace {

// x: (1, T, C) -> (1, T, T)
Tensor similarity(const Tensor& x) {
  const int T = x.dim(1), C = x.dim(2);
  const std::vector<real> v = x.values();
  const auto product = [&](int i, int j) {
    double sum = 0;
    for (int c = 0; c < C; ++c) sum += double(v[size_t(i * C + c)]) * double(v[size_t(j * C + c)]);
    return sum;
  };
  std::vector<double> m;
  for (int i = 0; i < T; ++i)
    for (int j = 0; j < T; ++j) {
      const double lengths = std::sqrt(product(i, i) * product(j, j));
      m.push_back(lengths > 0 ? product(i, j) / lengths : 0);
    }
  return Tensor::from({1, T, T}, m);
}

}  // namespace

std::vector<Tensor> position_matrices(const PositionLayers& scheme, const ModelShape& shape,
                                      const PositionSample& sample) {
  const NoGrad no_grad;
  if (scheme.embed) {
    const Positions& p = sample.at_embedding();
    return {similarity(scheme.embed(Tensor::full({1, p.time(), shape.d_model}, 0), p))};
  }
  std::vector<Tensor> all;
  for (size_t layer = 0; layer < scheme.layers.size(); ++layer)
    all.push_back(scheme.layers[layer]->shown(shape, sample.at_layer(int(layer))));
  const auto as_first = [&](const Tensor& m) { return m.values() == all[0].values(); };
  if (std::all_of(all.begin(), all.end(), as_first)) all.resize(1);
  return all;
}

Quantity quantity_of(const PositionLayers& scheme, int layer) {
  return scheme.embed ? Quantity::embeddings : scheme.layers[size_t(layer)]->quantity();
}

std::string words(Quantity q) {
  switch (q) {
    case Quantity::added: return "what is added to the logit";
    case Quantity::of_equals: return "the logit of equal contents";
    case Quantity::of_ones: return "the logit of contents of 1";
    case Quantity::embeddings: return "the cosine of what is added to the embeddings";
    case Quantity::weight: return "a weight";
    case Quantity::order: return "the order of asking";
    case Quantity::several: return "several quantities, by head";
  }
  return {};
}

}  // namespace poslab
