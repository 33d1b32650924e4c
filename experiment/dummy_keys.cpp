#include "experiment/dummy_keys.h"

#include "encodings/explicit_weights.h"

namespace poslab {
namespace {

struct DummyKeys : ExplicitWeights {
  Transformer net;
  size_t layer;
  int count;
  DummyKeys(Transformer n, size_t l, int c) : net(std::move(n)), layer(l), count(c) {}
  const Encoding& inner() const { return *net.encoding().layers[layer]; }

  // z_i / (z_i + count), from the largest weight exp(m_i) / z_i and the largest logit m_i: (B, H, Tq, 1)
  Tensor kept(const Heads& in, const Positions& p, const Span& span) const {
    const Tensor rows = inner().statistics(in, p, span);
    const Tensor weight = slice(rows, 3, 0, 1), logit = slice(rows, 3, 2, 3);
    return 1 / (1 + weight * exp(-logit) * count);
  }
  Tensor attend(const Heads& in, const Tensor& v, const Positions& p, const Span& span) const override {
    return inner().attend(in, v, p, span) * permute(kept(in, p, span), {0, 2, 1, 3});
  }
  Tensor weights(const Heads& in, const Positions& p, const Span& span) const override {
    return inner().weights(in, p, span) * kept(in, p, span);
  }
};

}  // namespace

Transformer with_dummy_keys(const Transformer& net, int count) {
  auto wrapped = std::make_shared<PositionLayers>(Params(0), choose_encoding("none"), net.spec().shape());
  wrapped->embed = net.encoding().embed;
  for (size_t n = 0; n < wrapped->layers.size(); ++n) wrapped->layers[n] = std::make_unique<DummyKeys>(net, n, count);
  return net.with_layers(std::move(wrapped));
}

}  // namespace poslab
