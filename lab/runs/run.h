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
// A new run at step 0, or with optimizer = keep at that of its origin: reads its text, if it has one, and makes the
// folder. Throws BadInput.
Run create_run(const RunSpec&, std::optional<Origin> = {});   // absent: as the option `from` says
// The run at its last checkpoint. device: "" for the run's own. Throws BadInput: no run, another version's, its
// configuration or its text was changed; Failure: damaged, or another process works in it.
// of: a kind that it must be of; absent: any.
// before: what is to be said of its configuration before anything large is made; may throw.
Run open_run(const std::string& folder, const std::string& device = "", const Kind* of = nullptr,
             const std::function<void(const RunSpec&)>& before = {});

// The same where one works with what only its kind has: open_as<language::TextLearner>(language_kind(), "runs/lm") has
// a decoder and its text.
template <class Its>
struct RunOf {
  RunFolder folder;
  std::unique_ptr<Its> learner;
};
template <class Its>
RunOf<Its> open_as(const Kind& kind, const std::string& folder, const std::string& device = "") {
  Run run = open_run(folder, device, &kind);
  return {run.folder, std::unique_ptr<Its>(static_cast<Its*>(run.learner.release()))};  // open_run saw to the kind
}

// A trained model to look at: that of a run, or an external checkpoint (lab/hub/hf_run.h), a run of a language model
// that is only read.
struct Opened {
  std::shared_ptr<Learner> learner;
  std::optional<RunFolder> run;  // absent of an external checkpoint
  std::string text;              // to be looked at in place of the test's; "": none
  // The default length of inputs: 0 for a run, which has its own. A checkpoint's own may be too long for a page.
  int usual_length = 0;
};
// text: the text to look at; of an external checkpoint also the name of a file or folder, from which its test's
// texts come, in place of the compiler's headers. With no text at all, nullopt, none is read. Throws BadInput and
// Failure as open_run and open_hf_run do.
Opened open_model(const std::string& folder, const std::string& device = "",
                  const std::optional<std::string>& text = std::nullopt);
// Throws BadInput for a device that weights of Hugging Face's form cannot be on; "" is none.
void refuse_device_of_checkpoint(const std::string& device, const std::string& folder);

std::string checkpoint_bytes(const Learner&);

// Up to its last step, with metrics, small tests and checkpoints into the folder and a bar on stderr. Returns the
// seconds of training since step 0, if they are known (lab/runs/training_clock.h). A signal throws Interrupted after a
// last checkpoint.
std::optional<double> train(const RunFolder&, Learner&, Trace* = nullptr);
Taken taken_by(const std::vector<TestPart>&);
int longest_of(const std::vector<TestPart>&, const Choices&);   // slots of the longest sequence tested
// "documents.jsonl: 9 samples of 5 questions, so that some repeat, ..." on stderr; remedy: "more questions".
void tell_repeats(const std::string& part, const std::string& what, const char* remedy);
Values repeats(const std::vector<TestPart>&);  // TestPart::repeats by the words of the part, without empty ones
// All parts of a test, with a bar on stderr, and a line for each that repeats samples. Throws Interrupted; `again` is
// the command that does it again.
Results evaluate(const std::vector<TestPart>&, const std::string& again, Device = Device::cpu);

}  // namespace poslab
