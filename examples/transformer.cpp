// A transformer learns to sort strings of up to 10 symbols and is then tested on longer ones. A RunSpec
// (experiment/run_spec.h) has all options of `poslab train`, under the same names.
#include <fmt/format.h>

#include "experiment/evaluate.h"
#include "experiment/step.h"

using namespace poslab;

int main() {
  const RunSpec config(configure({{"task", "bucket_sort"},
                                  {"encoding", "relative"},
                                  {"positions", "randomized"},
                                  {"max_position", "64"},
                                  {"layers", "2"},
                                  {"heads", "4"},
                                  {"d_model", "32"},
                                  {"batch", "32"},
                                  {"lr", "0.002"},
                                  {"steps", "300"},
                                  {"train_length", "10"},
                                  {"eval_lengths", "1:30"},
                                  {"eval_samples", "64"}}));
  State state(config);  // weights, optimizer, step 0
  fmt::print("{} parameters\n", state.params.count());

  while (state.adam.step < config.count("steps")) {
    const StepInputs inputs = draw_step(config, state.adam.step);      // strings, answers, positions
    const Step step = finish_step(config, start_step(state, inputs));  // forward, backward, Adam
    if (state.adam.step % 100 == 0)
      fmt::print("step {:4}   length {:2}   loss {:.3f}   accuracy {:5.1f} %\n", state.adam.step, step.length,
                 step.loss, 100 * double(step.score.correct) / double(step.score.scored));
  }

  fmt::print("\nlength   accuracy     chance   majority\n");
  for (const int length : {5, 10, 15, 20, 30}) {
    const AtLength at = evaluate(state, length);
    fmt::print("{:6} {:8.1f} % {:8.1f} % {:8.1f} %\n", length, 100 * at.accuracy, 100 * at.baselines.chance,
               100 * at.baselines.majority);
  }
}
