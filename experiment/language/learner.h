// Runs that learn a text, as a kind of run (experiment/kind.h).
#pragma once
#include "experiment/language/language.h"
#include "experiment/learner.h"

namespace poslab::language {

class TextLearner final : public StateLearner<State, Batch> {
 public:
  TextLearner(State s, std::shared_ptr<const Source> text) : StateLearner(std::move(s)), source(std::move(text)) {}
  std::vector<TestPart> test(const RunSpec&) const override;
  std::string batch_words() const override;
  Probed probed(const RunSpec&, const std::vector<int>& lengths, int samples, const std::string&) const override;
  Sample sample(const SampleOptions&) const override;
  Reader reader() const override;
  std::vector<int> read(const std::string& text) const override { return source->prompt(text); }
  std::string write(const std::string& prompt, const Generation&) const override;
  const Params& own_params() const override;
  Inspection inside(std::vector<int> lengths, int samples, const std::string& text) const override;

  std::shared_ptr<const Source> source;

 private:
  Batch batch(int64_t step) const override { return draw_batch(state.config, *source, step); }
  std::vector<int> tokens_of(const std::string& text) const;   // tokens of the user's text; none for ""
};

Row row_of(const AtLength&);
// The output of a run's decoder for tokens, at given positions or those drawn for that many tokens. It keeps
// references to the decoder and its choices.
Reader reader_of(const Decoder&, const RunSpec&, const std::function<PositionSample(int slots)>& draw);
// The test of any decoder under these choices: an external checkpoint, or a model with another encoding.
std::vector<TestPart> test_of(const Decoder&, const RunSpec&, const std::shared_ptr<const Source>&);
// The model with the scheme or temperature of these choices in place of its own. Throws BadInput if the new one
// has parameters.
Decoder tested_net(const Decoder&, const Params&, const RunSpec& own, const RunSpec& tested);

}  // namespace poslab::language
