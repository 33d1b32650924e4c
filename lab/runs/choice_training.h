// The training of a run whose options are Choices (experiment/choice_table.h), and what it leaves in the run folder.
#pragma once
#include <functional>
#include <future>
#include <string>

#include "core/parallel.h"
#include "experiment/choice_table.h"
#include "lab/runs/values.h"
#include "lab/runs/training_loop.h"
#include "nn/adam.h"

namespace poslab {

// What a step came to; the accuracy is a share of `scored` tokens or answers.
struct ScoredStep {
  double loss, accuracy, grad_norm, scored;
};

// A run whose next batch is drawn while a step is computed. State has config, params and adam.
template <class State, class Batch>
class ChoiceTrainee : public Trainee {
 public:
  struct Work {
    std::function<Batch(int64_t step)> draw;
    std::function<ScoredStep(const Batch&)> train;
    std::function<std::string()> checkpoint;
  };
  ChoiceTrainee(const State& state, Work work) : state_(state), work_(std::move(work)) {
    if (done() < steps()) draw_ahead(done());
  }
  int64_t done() const override { return state_.adam.step; }
  void start() override {
    const Batch now = next_.get();
    if (done() + 1 < steps()) draw_ahead(done() + 1);
    newest_ = work_.train(now);
  }
  StepResult finish() override {
    const nlohmann::ordered_json line = {
        {"step", done()}, {"loss", newest_.loss}, {"accuracy", newest_.accuracy}, {"grad_norm", newest_.grad_norm}};
    return {done(), newest_.loss, newest_.accuracy * newest_.scored, newest_.scored, line.dump()};
  }
  std::string checkpoint() const override { return work_.checkpoint(); }

 private:
  int64_t steps() const { return state_.config.whole("steps"); }
  void draw_ahead(int64_t step) {
    next_ = std::async(threads() > 1 ? std::launch::async : std::launch::deferred,
                       [this, step] { return work_.draw(step); });
  }
  const State& state_;
  Work work_;
  std::future<Batch> next_;
  ScoredStep newest_{};
};

// The bytes of a checkpoint of a run of that kind.
std::string checkpoint_bytes(const Choices&, const Params&, const Adam&);
// The configuration of a run, from its checkpoint; refused with BadInput if config.toml says something else.
Choices read_config(const Kind&, const RunFolder&, const class Checkpoint&);
// Trains it up to its last step, and writes result.json: what trained the run, how large it is, how long it took. A
// signal throws Interrupted after a last checkpoint.
void train(const Kind&, const RunFolder&, const Choices&, const Params&, const Adam&, Trainee&);

}  // namespace poslab
