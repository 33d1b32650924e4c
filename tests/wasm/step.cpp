// Five training steps of a small model for every encoding, one line each: encoding, step, loss. tests/wasm/compare.sh
// and tests/web/engine.mjs compare the native program's output with WebAssembly's.
#include <cstdio>

#include "encodings/encoding.h"
#include "experiment/config.h"
#include "experiment/step.h"

using namespace poslab;

int main() {
  for (const Scheme& scheme : all_encodings()) {
    const bool causal = !scheme.causal_only(choose_encoding(scheme.name).choices).empty();
    const RunSpec config(configure({{"task", "reverse_string"}, {"encoding", scheme.name},
                                    {"positions", "randomized"}, {"causal", causal ? "on" : "off"},
                                    {"layers", "2"}, {"heads", "2"}, {"d_model", "16"}, {"batch", "4"},
                                    {"train_length", "8"}, {"max_position", "128"}, {"eval_lengths", "1:12"}}));
    State state(config);
    for (int step = 0; step < 5; ++step) {
      const double loss = finish_step(config, start_step(state, draw_step(config, step))).loss;
      std::printf("%s %d %.9g\n", scheme.name.c_str(), step, loss);
    }
  }
}
