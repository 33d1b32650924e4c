// Runs that learn to answer questions about a long context, as a kind of run (experiment/kind.h).
#pragma once
#include "experiment/learner.h"
#include "experiment/t5/t5.h"

namespace poslab::t5 {

class QuestionLearner final : public StateLearner<State, Batch> {
 public:
  using StateLearner::StateLearner;
  std::vector<TestPart> test(const RunSpec&) const override;
  std::string batch_words() const override { return "questions"; }
  Probed probed(const RunSpec&, const std::vector<int>& lengths, int samples, const std::string&) const override;
  Sample sample(const SampleOptions&) const override;
  Reader reader() const override;
  std::vector<int> read(const std::string& text) const override;
  std::string answer(const std::string& prompt, const T5Generation&) const override;
  Inspection inside(std::vector<int> lengths, int samples, const std::string& text) const override;

 private:
  Batch batch(int64_t step) const override { return draw_batch(state.config, step); }
};

Row row_of(const AtLength&);
// "   50 ...    -": by place of the answer, for a terminal.
std::string shown_places(const double (&accuracy)[places]);

}  // namespace poslab::t5
