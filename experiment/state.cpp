#include "experiment/state.h"

#include "experiment/align.h"
#include "experiment/build.h"

namespace poslab {

State::State(const Choices& c)
    : config((check(c), c)),
      params(uint64_t(c.count("seed"))),
      net(params, transformer_spec(c)),
      adam((params.pack(device(c)), params), c.number("lr")) {
  adam.clip = c.number("clip");
}

Transformer State::test_net() const {
  if (config["test_temperature"] == "same") return net;
  const Chosen<TemperaturePolicy> policy = test_temperature(config);
  Transformer made = net.at_temperature(policy);
  check_aligned(policy, params);
  return made;
}

MatmulPrecision State::matmul_precision() const { return {params.device(), matmul(config), products(config)}; }

}  // namespace poslab
