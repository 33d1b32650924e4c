// The second source (Chi, Fan, Rudnicky 2023; spec C.2): T5's attention disperses over long inputs, and a temperature
// mends it. Its models are Flan-T5; ours is a small T5 that learns its tasks as symbols (tasks/retrieval), and in its
// place one with RoPE, ALiBi or a learned table.
#pragma once
#include "lab/papers/gap_shift/gap_shift.h"
#include "lab/papers/models.h"

namespace poslab::reproduce::chi2023 {

// -- the source's tables and figures ---------------------------------------------------------------------------------

const std::vector<ModelSize>& all_sizes();  // options of `poslab t5 train`; others: of `poslab lm train`, for table 3

// What a size and --set make of it.
struct Setup {
  Settings t5, lm;
  int seeds;
  int length() const;                // trained, in tokens
  std::vector<int> longer() const;   // tested beyond it, rising
  std::vector<int> lengths() const;  // that one, then these
  // Retrieval tasks as they are spelled: those that the T5 learns together, and beside them what "topic" learns alone.
  std::vector<std::string> learned_together() const, tasks() const;
  std::string model_of(const std::string& task) const;  // the first model that learns it. Throws Failure if none does
};
std::vector<int> beyond(int length, std::vector<int> tested);  // those that are longer, rising
// sets: KEY=VALUE, options of `poslab t5 train`; lm_KEY=VALUE, of `poslab lm train`; or seeds=N. Throws BadInput.
Setup setup(const std::string& size, const std::vector<std::string>& sets);

// "t5", "topic", "documents", "passkey", "rope" ...; "lm": the language model.
std::vector<Model> models(const Setup&);
std::vector<std::string> learned(const Model&);  // tasks; of the language model none
bool is_language(const std::string& model);
const std::vector<std::pair<std::string, std::string>>& encoding_models();  // of table 2, and what it calls them
std::string encoding_name(const std::string& model);                        // "T5's biases" of "t5"
std::string short_task(const std::string& spelled);                         // "line" of "line:digits=3"

// What a trained model is tested with: as it is, the log rule, or a temperature that `poslab align` finds.
enum class Mode { original, log, pmax, entropy, prop1, prop2 };
std::string name_of(Mode);  // "maximum probability"
std::string word_of(Mode);  // "pmax", of `poslab align --mode`; "" of the original

struct Test {
  std::string model, task;  // task: "" of the language model
  Mode mode;
  bool tested;                    // else only aligned
  std::string word() const;       // "line-pmax"
  std::string alignment() const;  // its file in the run folder
  std::string file() const;
};
// What a trial does for a test: it aligns, and then tests what that has left.
std::vector<ModelTest> steps(const Setup&, const Test&);
// Each task with each of these modes, of the model that learned it.
std::vector<Test> of_tasks(const Setup&, const std::vector<Mode>&, bool tested);
constexpr int aligned_samples = 2;  // questions, or texts of the language model, at each length of an alignment
std::vector<double> grid();         // of algorithm 1: the source's, 1.0, 0.95, ..., 0.5, and on to 0.1

// What is done so far, in FOLDER/runs.
class Results {
 public:
  Results(const Setup& setup, const std::string& folder)
      : setup_(setup), trained_(models(setup), setup.seeds, folder) {}
  const Setup& setup() const { return setup_; }
  const Models& trained() const { return trained_; }

  // By seed, of those that are done. Throws Failure for a damaged file. part: of the context in which the answer stood,
  // from 0, or -1 for all. Of the language model the loss in nats a token.
  BySeed accuracy(const Test&, int length, int part = -1) const;
  BySeed loss(const Test&, int length) const;
  // A number of an alignment: at the short length (0) or at a long one.
  BySeed figure(const Test&, int length, const std::string& name, bool first_layer) const;
  BySeed temperature(const Test&, int length) const;

 private:
  const nlohmann::json& alignment(const Trial&, const std::string& path) const;
  Setup setup_;
  Models trained_;
  mutable std::map<std::string, nlohmann::json> read_;
};

ModelSource source(const ModelRequest&);  // throws as setup()

Section dispersed(const Results&), encodings(const Results&), perplexity(const Results&), retrieval(const Results&),
    temperatures(const Results&), documents(const Results&), largest_logits(const Results&), biases(const Results&),
    quantiles(const Results&), curves(const Results&);
Section propositions();

// -- the cross: the second source's temperatures on the first source's models and tasks ------------------------------

Trials of_cross(const Choices& defaults);
Section cross(const Outcomes&, const Choices& defaults);

// What is measured of a trained model, without training. Lengths are those of inputs.
// Mean accuracy over the lengths beyond the trained ones, as range evaluation has it, with a policy at test: "log",
// "pmax" or "entropy". The last two are aligned with the longest trained length (experiment/align).
double accuracy_beyond(State, const std::string& policy);
// On strings of the longest trained length when one thing is as at the longest tested length, and the others stay.
enum class Moved { nothing, positions, gaps, keys, dispersion, length };
double accuracy_moved(State, Moved);
bool can_move(const Choices&, Moved);  // gaps of counted positions never change; a table of offsets has no positions

}  // namespace poslab::reproduce::chi2023
