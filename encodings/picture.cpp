#include "encodings/picture.h"

#include <algorithm>
#include <cmath>

#include "autograd/tape.h"

namespace poslab {

Heads all_alike(const ModelShape& m, int time, double content) {
  const Tensor q = Tensor::full({1, time, m.heads, m.head_dim()}, real(content)),
               x = Tensor::full({1, time, m.d_model}, real(content));
  return {q, q, x, x};
}

Tensor logits_of(const Encoding& encoding, const ModelShape& m, const Positions& p, double content) {
  const int T = p.time();
  return slice(encoding.logits(all_alike(m, T, content), p, {}), 0, 0, 1).reshape({m.heads, T, T});
}

namespace {

Tensor equals(const Encoding& e, const ModelShape& m, const Positions& p) {
  return logits_of(e, m, p, std::pow(m.head_dim(), -0.25));
}

}  // namespace

PairPicture zero_contents(const ModelShape&, const Choices&) {
  return {Quantity::added, [](auto& e, auto& m, auto& p) { return logits_of(e, m, p, 0); }};
}
PairPicture unit_contents(const ModelShape&, const Choices&) {
  return {Quantity::unit_contents, [](auto& e, auto& m, auto& p) { return logits_of(e, m, p, 1); }};
}
PairPicture equal_contents(const ModelShape&, const Choices&) { return {Quantity::equal_contents, equals}; }
PairPicture cosines(const ModelShape&, const Choices&) {
  return {Quantity::equal_contents, [](auto& e, auto& m, auto& p) {
            std::vector<double> all;
            for (real x : slice(equals(e, m, p), 0, 0, 1).values()) all.push_back(std::isfinite(x) ? double(x) : -1);
            return Tensor::from({1, p.time(), p.time()}, all);
          }};
}

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

PairPicture picture_in(const PositionLayers& layers, ModelShape m, int layer) {
  m.layer = layer;
  return layers.scheme->pages.pictures.matrix(m, layers.scheme.choices);
}

}  // namespace

Tensor position_matrix(const PositionLayers& layers, const ModelShape& shape, const Positions& p, int layer) {
  return picture_in(layers, shape, layer).values(*layers.layers[size_t(layer)], shape, p);
}

std::vector<Tensor> position_matrices(const PositionLayers& layers, const ModelShape& shape,
                                      const PositionSample& sample) {
  const NoGrad no_grad;
  if (layers.embed) {
    const Positions& p = sample.at_embedding();
    return {similarity(layers.embed(Tensor::full({1, p.time(), shape.d_model}, 0), p))};
  }
  std::vector<Tensor> all;
  for (int n = 0; n < int(layers.layers.size()); ++n)
    all.push_back(position_matrix(layers, shape, sample.at_layer(n), n));
  const auto as_first = [&](const Tensor& m) { return m.values() == all[0].values(); };
  if (std::all_of(all.begin(), all.end(), as_first)) all.resize(1);
  return all;
}

Quantity quantity_of(const PositionLayers& layers, const ModelShape& shape, int layer) {
  return layers.embed ? Quantity::embeddings : picture_in(layers, shape, layer).quantity;
}

std::string words(Quantity q) {
  switch (q) {
    case Quantity::added: return "the term added to the logit";
    case Quantity::equal_contents: return "the logit of equal contents";
    case Quantity::unit_contents: return "the logit of contents of 1";
    case Quantity::embeddings: return "the cosine of the vectors added to the embeddings";
    case Quantity::weight: return "a weight";
    case Quantity::order: return "the order in which keys are visited";
    case Quantity::several: return "several quantities, by head";
  }
  return {};
}

}  // namespace poslab
