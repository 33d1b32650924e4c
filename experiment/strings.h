// Runs that learn a task of strings, as a kind of run (experiment/kind.h).
#pragma once
#include "experiment/evaluate.h"
#include "experiment/learner.h"
#include "experiment/step.h"

namespace poslab {

class StringsLearner final : public StateLearner<State, StepInputs> {
 public:
  using StateLearner::StateLearner;
  std::vector<TestPart> test(const RunSpec&) const override;
  double accuracy_at(int length, int samples) const override { return poslab::accuracy_at(state, length, samples); }
  Respondent respondent(const std::string& positions, const std::string& temperature) const override;
  std::string batch_words() const override { return fmt::format("{} strings", state.config.whole("batch")); }
  std::any draw_longest(int64_t step) const override {
    return draw_step(state.config, step, state.config.whole("train_length"));
  }
  Probed probed(const RunSpec&, const std::vector<int>& lengths, int samples, const std::string&) const override;
  Sample sample(const SampleOptions&) const override;
  Reader reader() const override;
  const State* pictured() const override { return &state; }
  Inspection inside(std::vector<int> lengths, int samples, const std::string& text) const override;

 private:
  StepInputs batch(int64_t step) const override { return draw_step(state.config, step); }
};

// The row of a measured length, and the reverse for all rows; columns that were not kept are 0.
Row row_of(const AtLength&);
std::vector<AtLength> at_lengths(const Results&);

// For runs with the paper's score: paper_score, released_score, chance, majority, content_only.
const Columns& paper_score_columns();
Row paper_scores(const Choices&, const Results&);
// Accuracy by length in about ten rows, and the scores, each with the three baselines.
std::string shown_by_length(const Choices&, const Results&);

}  // namespace poslab
