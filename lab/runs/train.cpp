#include "lab/runs/train.h"

#include <deque>
#include <future>
#include <nlohmann/json.hpp>

#include "core/parallel.h"
#include "experiment/build.h"
#include "experiment/step.h"
#include "lab/runs/checkpoint.h"
#include "lab/runs/curve.h"
#include "lab/runs/training_loop.h"

namespace poslab {
namespace {

std::string metrics_line(const Step& s, int64_t step) {
  return nlohmann::ordered_json{{"step", step},
                                {"length", s.length},
                                {"loss", s.loss},
                                {"accuracy", double(s.score.correct) / double(s.score.scored)},
                                {"grad_norm", s.grad_norm}}
      .dump();
}

class OfTask : public Trainee {
 public:
  OfTask(const RunFolder& run, State& state, Trace* trace) : state_(state), trace_(trace), tests_(run, state) {
    if (done() < state.config.count("steps")) draw_ahead(done());
  }
  int64_t done() const override { return state_.adam.step; }
  void start() override {
    StepInputs now = next_.get();
    if (done() + 1 < state_.config.count("steps")) draw_ahead(done() + 1);
    running_.push_back(start_step(state_, std::move(now), trace_));
  }
  StepResult finish() override {
    const int64_t step = running_.front().number + 1;
    const Step s = finish_step(state_.config, std::move(running_.front()));
    running_.pop_front();
    return {step, s.loss, double(s.score.correct), double(s.score.scored), metrics_line(s, step)};
  }
  // Steps that may wait in a GPU's queue.
  size_t may_wait() const override { return state_.params.device() == Device::cpu ? 0 : 2; }
  std::string checkpoint() const override { return checkpoint_bytes(state_); }
  bool test_due() const override { return tests_.due(); }
  void test(std::optional<double> seconds) override { tests_.test(seconds); }
  void sync() override { tests_.sync(); }

 private:
  // What the next step needs is drawn on a thread of its own; with one thread for all, when it is due.
  void draw_ahead(int64_t step) {
    next_ = std::async(threads() > 1 ? std::launch::async : std::launch::deferred,
                       [this, step] { return draw_step(state_.config, step); });
  }
  State& state_;
  Trace* trace_;
  SmallTests tests_;
  std::future<StepInputs> next_;
  std::deque<PendingStep> running_;
};

}  // namespace

std::optional<double> train(const RunFolder& run, State& state, Trace* trace) {
  const Choices& c = state.config;
  OfTask trainee(run, state, trace);
  const Device device = state.params.device();
  const TrainingPlan plan{c.count("steps"), c.count("checkpoint_every"), c.count("log_every"), device,
                          "resume",         c.on("keep_checkpoints")};
  return train(run, plan, trainee);
}

}  // namespace poslab
