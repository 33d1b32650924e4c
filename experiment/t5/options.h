// All options of a run of a T5: one table, as in experiment/language/options.h.
#pragma once
#include "experiment/run_spec.h"
#include "experiment/footprint.h"
#include "nn/t5.h"
#include "tasks/retrieval/retrieval.h"

namespace poslab::t5 {

const ChoiceTable& all_choices();
Choices configure(const Settings&);              // throws BadInput, as the table's configure()
// Throws BadInput for choices that do not fit together.
void check(const RunSpec&);

const std::vector<Chosen<Retrieval>>& retrievals(const RunSpec&);   // its tasks
T5Spec spec(const RunSpec&);
std::vector<int> eval_lengths(const Choices&);   // in tokens
Load load(const RunSpec&);                       // experiment/footprint.h
constexpr double usual_answer = 8;               // approximate symbols of an answer in a test; contexts are much longer
// The cost of test questions with an answer of `said` tokens, of an answer to the user, and of the encoder alone.
Forward forward(const T5Spec&, double context, double questions, double said = usual_answer);
Taken answer_takes(const T5Spec&, double context, double count, double beams);
Forward encoded(const T5Spec&, double context, double questions);

}  // namespace poslab::t5
