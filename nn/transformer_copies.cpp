// Copies of a transformer that share its weights: with another temperature, or other layers of positions.
#include "core/error.h"
#include "nn/transformer.h"

namespace poslab {

Transformer Transformer::at_temperature(const Chosen<TemperaturePolicy>& policy) const {
  if (policy->learned)
    bad_input("temperature {}: it learns parameters, which a trained model does not have; train with it, or choose one "
              "that learns nothing, such as log_n", policy.spelled());
  Transformer other = *this;
  other.spec_.temperature = policy;
  other.temperature_ = temperature_layers(Params(0), policy, spec_.shape());
  return other;
}

Transformer Transformer::with_layers(std::shared_ptr<const PositionLayers> layers) const {
  Transformer other = *this;
  other.encoding_ = std::move(layers);
  return other;
}

}  // namespace poslab
