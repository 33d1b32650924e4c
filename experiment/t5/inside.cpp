#include "experiment/t5/inside.h"

#include <algorithm>

namespace poslab::t5 {

Probed probed(const State& s, int samples) {
  const auto run = [&s, samples](const Look& look) {
    const Inference as_this_run(s.config);
    const T5 net = look.temperature ? s.net.at_temperature(*look.temperature) : s.net;
    const int all = look.samples ? look.samples : samples;
    const int together = look.one_by_one ? 1 : std::clamp(4096 / look.length, 1, all);
    for (const Chosen<Retrieval>& task : retrievals(s.config))
      for (int first = 0; first < all; first += together) {
        const Batch batch =
            test_batch(s.config, task, look.length, {first, std::min(together, all - first), all}, look.strings);
        look.observe([&](Trace* trace) {
          net.encode(batch.context, {}, {test_positions(s.config, look.length, batch), {}, trace});
        });
      }
  };
  return {.layers = s.net.spec().layers,
          .heads = s.net.spec().heads,
          .causal = false,
          .prefix = "encoder.",
          .keys = [](int length) { return length; },
          .run = run,
          .forward = [&s, samples](int length) { return encoded(s.net.spec(), length, samples); },
          .inputs = int(retrievals(s.config).size()) * samples};
}

}  // namespace poslab::t5
