// A run of any kind from its options to its result, as `poslab train`, `resume` and `eval` do it, and as the Python
// module does. A signal throws Interrupted, with a message that says how to go on.
#pragma once
#include <string>

#include "lab/runs/run.h"

namespace poslab {

// Each returns the closing message: the table of the test and where everything is kept. Throw BadInput as
// Kind::check, RunFolder and check_memory do. A trace as for train (lab/runs/run.h).
// train_run: into a new folder. given: by a file or a program, and before `typed`, of which each must change something
// (experiment/no_effect.h). force: even if it seems too large
std::string train_run(const Kind&, const Settings& given, const Settings& typed, bool force, Trace* = nullptr);
// resume_run: settings: threads, device; of: a kind that the run must be of
std::string resume_run(const std::string& path, const Settings&, bool force = false, Trace* = nullptr,
                       const Kind* of = nullptr);

struct Keep {
  std::string name = {};  // of a test under other options than the run's own (lab/runs/other_test.h); "": made of them
  std::string file = {};  // a file of the user's own in place of those in the run; "": none
};
struct Tested {
  std::string said,
      name;  // name: under which it is kept in the run; "": as its own test, in the user's file, or nowhere
  Results results;
};
// settings: of the test alone, with threads and device. Throws BadInput before anything is tested: both a name and a
// file, one that cannot be written, the own test of a run that is not trained to its end.
Tested test_run(const std::string& path, const Settings&, const Keep& = {}, bool force = false,
                const Kind* of = nullptr);

// Names the first length whose loss is NaN or infinite. A training has ended well also where a length overflows, so
// that after one it is said and no more; a test of its own has failed.
void check_finite(const Results&, bool after_training);

}  // namespace poslab
