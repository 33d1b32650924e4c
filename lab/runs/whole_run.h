// A run from its options to its result, as `poslab train`, `resume` and `eval` do it, and as the Python module does. A
// signal throws Interrupted, with a message that says how to go on.
#pragma once
#include <string>

#include "experiment/config.h"
#include "nn/trace.h"

namespace poslab {

// Each returns what is to be said at the end: the table of accuracies and where everything is kept. Throw BadInput as
// `check`, RunFolder and check_memory do. A trace as for train (lab/runs/train.h).
// train_run: into a new folder; force: even if it seems too large
std::string train_run(const Settings&, bool force, Trace* = nullptr);
std::string resume_run(const std::string& path, const Settings&, Trace* = nullptr);
struct Tested {
  std::string said, name;  // name: of a test under other options than the run's own (lab/runs/other_test.h), else ""
};
// settings: of the test alone; name: of such a test, "" makes one
Tested test_run(const std::string& path, const Settings&, const std::string& name = "");

}  // namespace poslab
