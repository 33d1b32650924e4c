// A run of a T5 on retrieval, as values: its state, a step, and its answers at a length. Opens no file.
#pragma once
#include <cmath>

#include "experiment/training_step.h"
#include "experiment/t5/options.h"
#include "nn/adam.h"

namespace poslab::t5 {

struct State {
  // Step 0: fresh weights from the seed. Throws BadInput if the choices do not fit.
  explicit State(const RunSpec&);
  RunSpec config;
  Params params;
  T5 net;
  Adam adam;                                     // adam.step counts the steps done
};

// Questions of one length. An answer ends with symbols::end, which also pads it to the longest of the batch.
struct Batch {
  Ids context;                                   // (B, T)
  Ids read, expected;                            // (B, O): the start and the answer, the answer and its end
};
Batch batch_of(const std::vector<SymbolQuestion>&);
int longest(const Choices&, int64_t step);       // tokens of the longest contexts of a step, which may grow at first
// A function of seed and step alone: the tasks in turn, at one length of shortest .. longest.
Batch draw_batch(const RunSpec&, int64_t step);

StepPlan plan(const State&, const Batch&);  // the plan of step state.adam.step
// accuracy: the share of answers that are right as a whole
StepResult result(const State&, const Batch&, const StepOutcome&);
using poslab::train_step;

// Questions first .. first + count - 1 of the test, with the encoder's positions: functions of seed, task and length
// alone. If a task allows it, the answers of all `of` questions are spread evenly over the context.
struct TestQuestions {
  int first, count, of;
};
Batch test_batch(const RunSpec&, const Chosen<Retrieval>&, int length, TestQuestions, Purpose = Purpose::test_tokens);
PositionSample test_positions(const RunSpec&, int length, const Batch&);

constexpr int places = 8;  // answers are reported for each of these parts of a context

inline double share(double right, int64_t of) { return of ? right / double(of) : std::nan(""); }

struct AtLength {
  std::string task;
  int length = 0;
  int64_t samples = 0;
  double loss = 0, accuracy = 0;                 // nats a symbol of an answer; share of answers that are right
  double accuracy_of_place[places] = {};         // NaN without an answer
};
// Throws BadInput if a test of these choices has longer contexts than a table of learned positions has rows.
void check_rows(const T5&, const RunSpec&);
// Tests eval_samples questions. An answer counts if all its symbols and its end are the most probable ones, that is, if
// greedy decoding gives it. Throws Stopped.
AtLength evaluate(const T5&, const RunSpec&, const Chosen<Retrieval>&, int length);

}  // namespace poslab::t5
