// A run of any kind: its folder (lab/runs/run_folder.h) and the model that learns in it.
#pragma once
#include <memory>
#include <optional>

#include "experiment/learner.h"
#include "lab/runs/other_test.h"
#include "lab/runs/text_source.h"

namespace poslab {

struct Run {
  RunFolder folder;
  std::unique_ptr<Learner> learner;
};
// A new run at step 0: reads its text, if it has one, and makes the folder. Throws BadInput.
Run create_run(const Choices&);
// As it was left. device: on which to go on; "": on that of the run. Throws BadInput: no run, another version's, its
// configuration or its text was changed; Failure: damaged, or another process works in it.
// of: a kind that it must be of; absent: any.
Run open_run(const std::string& folder, const std::string& device = "", const Kind* of = nullptr);

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
  return {run.folder, std::unique_ptr<Its>(dynamic_cast<Its*>(run.learner.release()))};
}

std::string checkpoint_bytes(const Learner&);

// Up to its last step, with metrics, small tests and checkpoints into the folder and a bar on stderr. Returns the
// seconds of training since step 0, if they are known (lab/runs/training_clock.h). A signal throws Interrupted after a
// last checkpoint.
std::optional<double> train(const RunFolder&, Learner&, Trace* = nullptr);
// All parts of a test, with a bar on stderr. Throws Interrupted; `again` is the command that does it again.
Results evaluate(const std::vector<TestPart>&, const std::string& again, Device = Device::cpu);

}  // namespace poslab
