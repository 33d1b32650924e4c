// For tests that hold a state of one kind, and train or test it as a run does.
#pragma once
#include "experiment/language/learner.h"
#include "experiment/strings.h"
#include "experiment/t5/learner.h"
#include "lab/runs/results_csv.h"
#include "lab/runs/run.h"

namespace poslab::test {

// The trained learner shares the state's weights and moments; the state's step is set at the end, even after a signal.
inline std::optional<double> train(const RunFolder& run, State& state) {
  StringsLearner learner(state);
  struct Keep {
    State& state;
    const StringsLearner& learner;
    ~Keep() { state.adam.step = learner.state.adam.step; }
  } keep{state, learner};
  return poslab::train(run, learner);
}
inline std::vector<AtLength> evaluate(const State& state) {
  return at_lengths(poslab::evaluate(StringsLearner(state).test(state.config), ""));
}
inline std::string to_csv(const std::vector<AtLength>& all) {
  Results rows;
  for (const AtLength& at : all) rows.push_back(row_of(at));
  return poslab::to_csv(rows);
}
inline RunOf<language::TextLearner> open_lm(const std::string& folder) {
  return open_as<language::TextLearner>(language_kind(), folder);
}

}  // namespace poslab::test
