#include "lab/runs/t5/run.h"

#include "core/error.h"
#include "core/stop.h"
#include "lab/files/files.h"
#include "lab/files/interrupt.h"
#include "lab/files/progress.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/choice_training.h"
#include "lab/runs/config_toml.h"

namespace poslab::t5 {
namespace {

std::string checkpoint(const State& s) {
  return checkpoint_bytes(s.config, s.params, s.adam);
}

}  // namespace

Run create(const Choices& c) {
  t5::check(c);
  RunFolder::check_free(c["out"]);
  State state(c);
  stop_if_wanted();
  const RunFolder folder = RunFolder::create(
      c["out"], {{"config.toml", to_toml(c)}, {"checkpoint.safetensors", checkpoint(state)}});
  fmt::print(stderr, "{}: {} parameters\n", c["tasks"], state.params.count());
  return {folder, std::move(state)};
}

Run open(const std::string& folder) {
  const RunFolder run = RunFolder::open(folder);
  const Checkpoint saved(read_file(run.checkpoint()), run.checkpoint(), t5_kind());
  State state(read_config(t5_kind(), run, saved));
  saved.read_into(state.params, state.adam);
  return {run, std::move(state)};
}

void train(Run& run) {
  State& s = run.state;
  const auto train_on = [&](const Batch& batch) {
    const Step step = train_step(s, batch);
    return ScoredStep{step.loss, step.accuracy, step.grad_norm, double(batch.context.shape()[0])};
  };
  ChoiceTrainee<State, Batch> trainee(
      s, {[&](int64_t step) { return draw_batch(s.config, step); }, train_on, [&] { return checkpoint(s); }});
  poslab::train(t5_kind(), run.folder, s.config, s.params, s.adam, trainee);
}

std::vector<AtLength> evaluate(const T5& net, const Choices& c, const std::string& again) {
  const std::vector<Chosen<Retrieval>> all = tasks(c);
  const std::vector<int> lengths = eval_lengths(c);
  const int64_t samples = c.whole("eval_samples");
  int64_t tokens = 0, done = 0;
  for (const int length : lengths) tokens += int64_t(all.size()) * samples * length;
  Progress progress("testing", "tokens", 0, tokens);
  std::vector<AtLength> list;
  try {
    for (const Chosen<Retrieval>& task : all)
      for (const int length : lengths) {
        list.push_back(evaluate(net, c, task, length));
        progress.at(done += samples * length, fmt::format("{}, length {}", task->name, length));
        stop_if_wanted();
      }
  } catch (const Stopped&) {
    throw Interrupted(caught_signal(), fmt::format("stopped in the test; `{}` does it again", again));
  }
  return list;
}

}  // namespace poslab::t5
