#include "experiment/state.h"

#include "experiment/align.h"
#include "experiment/build.h"

namespace poslab {

State::State(const RunSpec& c)
    : config((check(c), c)),
      params(uint64_t(c.count("seed"))),
      net(params, transformer_spec(c)),
      adam((params.pack(device(c)), params), c.number("lr")) {
  adam.clip = c.number("clip");
}

Transformer State::test_net() const {
  Transformer own = net.with_loops(loops(config));
  if (config["test_temperature"] == "same") return own;
  Transformer made = own.at_temperature(config.test_temperature);
  check_aligned(config.test_temperature, params);
  return made;
}

}  // namespace poslab
