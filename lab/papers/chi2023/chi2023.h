// Runs and measurements behind the second source (Chi, Fan, Rudnicky 2023; spec C.2), which
// python/poslab/papers/chi2023.py draws: T5's attention disperses over long inputs, and a temperature corrects it. The
// paper's models are Flan-T5; ours is a small T5 that learns the paper's tasks as symbols (tasks/retrieval), and for
// comparison the same with RoPE, ALiBi or a learned table.
//
// Measurements other than tests are records (lab/papers/measured.h), which kept.jsonl also has:
//
//   ID/aligned/TASK-MODE.json  what `poslab align` writes (lab/runs/align.h)
//   ID/biases.json             {"distance": [-160, ..., 160], "bias": [[...], ...]}: what each head of the encoder adds
//                              to the logit of a key that is that many tokens behind its query
//   ID/logits.json             {"questions": 4, "tasks": {"passkey": {"128": [...]}}}: sorted_logits()
//                              (experiment/dispersion.h) of each task, at the trained length and at a longer one
//   ID/cross.json              of a run of the cross: accuracies by the name of a measurement
#pragma once
#include "experiment/t5/t5.h"
#include "lab/papers/gap_shift/gap_shift.h"
#include "lab/papers/models.h"

namespace poslab::reproduce::chi2023 {

// The setup that a size and --set give. Tasks have their full spelling.
struct Setup {
  Settings t5, lm;
  int seeds;
  int length() const;               // trained, in tokens
  std::vector<int> longer() const;  // tested lengths beyond it, rising
  // Retrieval tasks that the T5 learns together, and the one that model "topic" learns alone.
  std::vector<std::string> learned_together() const, tasks() const;
  std::string model_of(const std::string& task) const;  // the first model that learns it; throws Failure if none does
};
// sets: KEY=VALUE, options of `poslab t5 train`; lm_KEY=VALUE, of `poslab lm train`; or seeds=N. Throws BadInput.
Setup setup(const std::string& size, const std::vector<std::string>& sets);

// "t5", "topic", "documents", "passkey", "rope" ...; "lm": the language model.
std::vector<Model> models(const Setup&);
ModelSource source(const ModelRequest&);  // throws as setup()

// The accuracy of a random guess among the answers in the context or, if it has only one, among all of this form.
double guess(const std::string& task, int length);
Json biases(const T5&);
Json logits(t5::State&);  // logits for each of its tasks; the state keeps only the last

// -- the cross: the second source's temperatures on the first source's models and tasks ------------------------------

Trials of_cross(const Choices& defaults);
Json cross(const Outcomes&, const Choices& defaults, const std::string& folder);  // Artifact::measured

// Measurements of a trained model, without training. Lengths are lengths of inputs.
// Mean accuracy over the lengths beyond the trained ones, as in range evaluation, with a policy at test: "log", "pmax"
// or "entropy". The last two are aligned with the longest trained length (experiment/align).
double accuracy_beyond(State, const std::string& policy);
// Accuracy at the longest trained length, with one property set as at the longest tested length, the others unchanged.
enum class Moved { nothing, positions, gaps, keys, dispersion, length };
double accuracy_moved(State, Moved);
bool can_move(const Choices&, Moved);  // gaps of counted positions never change; a table of offsets has no positions

}  // namespace poslab::reproduce::chi2023
