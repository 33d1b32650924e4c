// Names for runs that are shown together: the options in which they differ, as "encoding=rope", in the same words on
// pages, on the terminal and in tables.
#pragma once
#include <set>
#include <string>
#include <vector>

#include "lab/runs/values.h"

namespace poslab {

// The values without the options that do not name a run on pages: task, text and seed, which a page shows itself, and
// the intervals of checkpoints and log lines.
Values setting_of(Values);

// A value short enough for a line: a long list of numbers ends in its checksum, which distinguishes it from others with
// the same beginning.
std::string shortened(const std::string& value);

// The names of some runs of one kind. A name leaves out an option if all runs with the same values of the options
// before it also have the same value of this one, their preset's. So different values have different names.
class Naming {
 public:
  explicit Naming(const std::vector<Values>&, const Kind& = strings_kind());
  // "encoding=rope lr=0.0003"; if no option has to be named, encoding and positions: "relative (randomized)".
  std::string name(const Values&) const;
  const std::vector<std::string>& differing() const { return differing_; }  // in the order of kept_options()

 private:
  std::string value(const Values&, const std::string& option) const;
  const Kind* kind_;
  std::vector<std::string> differing_;
  std::set<std::string> parted_;           // an option and the values before it, where runs differ in the option
  std::map<std::string, Values> presets_;  // presets of the runs, with all their values
};

}  // namespace poslab
