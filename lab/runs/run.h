// A run of any kind: its folder (lab/runs/run_folder.h) and the model that learns in it.
#pragma once
#include <memory>
#include <optional>

#include "experiment/learner.h"
#include "lab/runs/origin.h"
#include "lab/runs/other_test.h"
#include "lab/runs/text_source.h"

namespace poslab {

struct Run {
  RunFolder folder;
  std::unique_ptr<Learner> learner;
};
// A new run at step 0, or with optimizer = keep at the step of its origin. Reads its text, if any, and makes the
// folder. Throws BadInput.
Run create_run(const RunSpec&, std::optional<Origin> = {});   // absent: opened as the option `from` says
// The run at its last checkpoint. device: "" for the run's own. Throws BadInput for no run, another version, a changed
// configuration or text; Failure if it is damaged or in use by another process. of: the required kind; absent: any.
// before: called with the configuration before anything large is made; may throw.
Run open_run(const std::string& folder, const std::string& device = "", const Kind* of = nullptr,
             const std::function<void(const RunSpec&)>& before = {});

// The same with the learner of a kind: open_as<language::TextLearner>(language_kind(), "runs/lm") has a decoder and its
// text.
template <class Its>
struct RunOf {
  RunFolder folder;
  std::unique_ptr<Its> learner;
};
template <class Its>
RunOf<Its> open_as(const Kind& kind, const std::string& folder, const std::string& device = "") {
  Run run = open_run(folder, device, &kind);
  return {run.folder, std::unique_ptr<Its>(static_cast<Its*>(run.learner.release()))};  // open_run() checked the kind
}

// A trained model to inspect: that of a run, or an external checkpoint (lab/hub/hf_run.h) as a read-only run of a
// language model.
struct Opened {
  std::shared_ptr<Learner> learner;
  std::optional<RunFolder> run;  // absent for an external checkpoint
  std::string text;              // text to inspect in place of the test's; "": none
  // The default length of inputs; 0 for a run, which knows its own. A checkpoint's may be too long for a page.
  int usual_length = 0;
};
// text: the text to inspect; for an external checkpoint it may also be a file or folder with the test's texts, in place
// of the compiler's headers; nullopt: none is read. Throws BadInput and Failure as open_run and open_hf_run do.
Opened open_model(const std::string& folder, const std::string& device = "",
                  const std::optional<std::string>& text = std::nullopt);

std::string checkpoint_bytes(const Learner&);

// Trains to the last step. Writes metrics, small tests and checkpoints into the folder, and a progress bar to stderr.
// Returns the seconds of training since step 0, if known (lab/runs/training_clock.h). A signal throws Interrupted after
// a last checkpoint.
std::optional<double> train(const RunFolder&, Learner&, Trace* = nullptr);
Taken taken_by(const std::vector<TestPart>&);
int longest_of(const std::vector<TestPart>&, const Choices&);   // slots of the longest tested sequence
// Prints "documents.jsonl: 9 samples of 5 questions, so some repeat, ..." to stderr; remedy: "more questions".
void tell_repeats(const std::string& part, const std::string& what, const char* remedy);
Values repeats(const std::vector<TestPart>&);  // TestPart::repeats by the name of the part, without empty ones
// Computes all parts of a test, with a progress bar on stderr and a line for each part that repeats samples. Throws
// Interrupted, whose message names the command `again`, which repeats the test.
Results evaluate(const std::vector<TestPart>&, const std::string& again, Device = Device::cpu);

}  // namespace poslab
