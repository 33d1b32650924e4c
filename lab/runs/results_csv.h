// A test as a table on disk: eval.csv of a run folder, eval-NAME.csv of other tests (lab/runs/other_test.h), and files
// for -o. Its first line names the columns of the run's kind.
#pragma once
#include <string>

#include "experiment/kind.h"

namespace poslab {

std::string header_of(const Kind&);              // "length,set,samples,loss,...", without the end of the line
std::string to_csv(const Results&);
// At least one row. Throws BadInput where there is no such file, Failure with the line where it is damaged.
Results read_results(const std::string& path, const Kind&);
// Those of a run folder: its own test, or that of this name.
Results read_test(const std::string& folder, const std::string& name = "");

}  // namespace poslab
