#include "experiment/state.h"

#include "experiment/build.h"

namespace poslab {

State::State(const Config& c)
    : config((check(c), c)),
      params(uint64_t(c.seed)),
      net(params, transformer_spec(c)),
      adam((params.pack(device(c)), params), c.lr) {
  adam.clip = c.clip;
}

Transformer State::test_net() const {
  return config.test_temperature == "same" ? net : net.at_temperature(test_temperature(config));
}

}  // namespace poslab
