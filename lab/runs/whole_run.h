// A run of any kind from its options to its result, for `poslab train`, `resume` and `eval`, and for the Python module.
// A signal throws Interrupted, with a message on how to continue.
#pragma once
#include <string>

#include "lab/runs/run.h"

namespace poslab {

// Each returns the closing message: the table of the test, and where everything is kept. They throw BadInput as
// Kind::check, RunFolder and check_memory do. A trace as for train (lab/runs/run.h). train_run: into a new folder.
// given: options of a file or a program. typed: the user's settings; later ones override earlier ones, and each of
// their options must change something (experiment/no_effect.h). force: even if the run seems too large.
std::string train_run(const Kind&, const Settings& given, const std::vector<Settings>& typed, bool force,
                      Trace* = nullptr);
// settings: threads, device. of: the kind that the run must have.
std::string resume_run(const std::string& path, const Settings&, bool force = false, Trace* = nullptr,
                       const Kind* of = nullptr);

struct Keep {
  // the name of a test under other options than the run's (lab/runs/other_test.h); "": made from the options
  std::string name = {};
  std::string file = {};  // a file of the user's in place of those in the run; "": none
};
struct Tested {
  std::string said,
      name;  // name: under which the run keeps it; "": as its own test, in the user's file, or not at all
  Results results;
};
// settings: of the test only, with threads and device. Throws BadInput before anything is tested, for both a name and
// a file, a file that cannot be written, or the own test of an unfinished run.
Tested test_run(const std::string& path, const Settings&, const Keep& = {}, bool force = false,
                const Kind* of = nullptr);

// Names the first length whose loss is NaN or infinite. After training this is only a note, because training
// itself succeeded; after a separate test it throws.
void check_finite(const Results&, bool after_training);

}  // namespace poslab
