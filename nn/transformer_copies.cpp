// Copies of a transformer that share its weights: with another temperature, other layers of positions, or another
// number of loops.
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

Transformer Transformer::with_loops(std::optional<int> loops) const {
  Transformer other = *this;
  if (loops && *loops < 1) bad_input("transformer: loops {}; it must be at least 1", *loops);
  other.spec_.loops = loops;
  return other;
}

Transformer Transformer::with_layers(std::shared_ptr<const PositionLayers> layers) const {
  Transformer other = *this;
  other.encoding_ = std::move(layers);
  return other;
}

}  // namespace poslab
