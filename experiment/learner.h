// A model of any kind in training: the interface for loops, commands and pages above. Opens no file, reads no clock,
// starts no thread.
#pragma once
#include <any>
#include <deque>
#include <functional>

#include "experiment/inside.h"
#include "experiment/kind.h"
#include "experiment/results.h"
#include "experiment/training_step.h"
#include "nn/adam.h"
#include "nn/trace.h"

namespace poslab {

// A row of a test, not yet measured. A test is an ordered list of these.
struct TestPart {
  std::string words;            // "length 40"
  double tokens;                // tokens of all its sequences, for a progress bar
  Taken takes;                  // its cost, besides the model
  std::function<Row()> row;     // throws Stopped (core/stop.h)
  std::string repeats = {};     // "5000 samples of at most 73 windows" if some repeat, or ""
};

// The user's tokens for the trained model, and its output for them.
struct Reading {
  Ids tokens;                             // (B, T)
  int outputs;                            // logits of this many last tokens
  Ids read = {};                          // (B, O), the input of a T5's decoder; absent for other models
  std::vector<Positions> positions = {};  // absent: those of the run's test
};
struct Reader {
  int vocabulary;
  std::function<Tensor(const Reading&, Trace*)> logits;  // (B, outputs, V), of a T5 (B, O, V)
  std::optional<int> start = {};                         // for a T5: the token that begins its answers
};

struct Generation;   // nn/generate.h
struct Respondent;   // experiment/ask.h
struct State;        // experiment/state.h
struct T5Generation; // nn/t5_generate.h

class Learner {
 public:
  virtual ~Learner() = default;
  virtual const RunSpec& config() const = 0;
  virtual const Params& params() const = 0;
  virtual Adam& adam() = 0;                      // adam().step counts the steps that were started
  const Adam& adam() const { return const_cast<Learner*>(this)->adam(); }

  // The batch of a step: a function of config() and the step's number alone, drawn on any thread.
  virtual std::any draw(int64_t step) const = 0;
  // Step number adam().step, on the batch drawn for it. Throws Stopped, with the weights as before it. A trace has the
  // step's activations, gradients and updates.
  virtual void start(std::any drawn, Trace* = nullptr) = 0;
  // Finishes the oldest started step. Throws Failure if the loss or the gradient's norm is not finite; that gradient
  // has not changed the weights.
  virtual StepResult finish() = 0;
  virtual size_t may_wait() const { return 0; }  // the number of started steps that may be unfinished: a GPU's queue

  // The test under these choices, which may differ from config() in options of Kind::tested. Throws BadInput before
  // anything is computed if they do not suit the trained model.
  virtual std::vector<TestPart> test(const RunSpec&) const = 0;
  // For kinds with the option test_every: the accuracy on the first `samples` inputs of the run's own test at one
  // length. Throws Stopped.
  virtual double accuracy_at(int, int) const { failure("this kind of run has no small tests while training"); }

  // Answers to the user's strings, with positions and a temperature that may differ from the test's; "": the test's.
  // Throws BadInput if they do not suit the trained model, or if its kind does not answer strings.
  virtual Respondent respondent(const std::string& positions, const std::string& temperature) const;

  // Text in and out, with the run's positions and end tokens. Each throws BadInput for an unsuitable kind of model.
  virtual std::vector<int> read(const std::string&) const {
    bad_input("this is a run of a task, not of a language model; pl.tasks makes its tokens");
  }
  virtual std::string write(const std::string& /*prompt*/, const Generation&) const {
    bad_input("this is not a language model, so it cannot continue a text");
  }
  virtual std::string answer(const std::string& /*prompt*/, const T5Generation&) const {
    bad_input("this is not a T5, so it cannot answer a text");
  }
  virtual const Params& own_params() const { return params(); }  // throws BadInput for an external checkpoint

  // For pages, `align` and `graph`. Each throws BadInput, before it computes, for a length that does not fit.

  // The inputs of a step: "32 strings", "16 texts of 256 tokens".
  virtual std::string batch_words() const = 0;
  // the inputs of a step, as long as possible
  virtual std::any draw_longest(int64_t step) const { return draw(step); }
  // Attention on the first `samples` inputs of the test at each length. command: the caller's, for messages.
  virtual Probed probed(const RunSpec& test, const std::vector<int>& lengths, int samples,
                        const std::string& command) const = 0;
  virtual Sample sample(const SampleOptions&) const = 0;
  virtual const State* pictured() const { return nullptr; }   // the state that a run's report draws, or null
  // The learner must outlive the results of both functions. If `lengths` is empty, the kind's own are used.
  virtual Reader reader() const = 0;
  virtual Inspection inside(std::vector<int> lengths, int samples, const std::string& text) const = 0;
};

// The options of a test, at the temperature of training: only a test can have an aligned one.
inline RunSpec at_temperature_of(const RunSpec& training, RunSpec test) {
  test.temperature = training.temperature;
  return test;
}

// A learner for a state that has config, params and adam; its kind implements plan() and result() of a step.
template <class State, class Batch>
class StateLearner : public Learner {
 public:
  explicit StateLearner(State s) : state(std::move(s)) {}
  const RunSpec& config() const override { return state.config; }
  const Params& params() const override { return state.params; }
  Adam& adam() override { return state.adam; }
  std::any draw(int64_t step) const override { return batch(step); }
  void start(std::any drawn, Trace* trace) override {
    Batch batch = std::any_cast<Batch>(std::move(drawn));
    StartedStep started = start_step(state.params, state.adam, plan(state, batch), state.config, trace);
    running_.emplace_back(std::move(batch), std::move(started));
  }
  StepResult finish() override {
    auto [batch, started] = std::move(running_.front());
    running_.pop_front();
    int length = 0;  // for kinds whose steps have a length
    if constexpr (requires { batch.length; }) length = batch.length;
    return result(state, batch, started.finish(state.config, length));
  }
  size_t may_wait() const override { return state.params.device() == Device::cpu ? 0 : 2; }

  State state;

 protected:
  virtual Batch batch(int64_t step) const = 0;

 private:
  std::deque<std::pair<Batch, StartedStep>> running_;
};

}  // namespace poslab
