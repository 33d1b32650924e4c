// A test as a table on disk: eval.csv of a run folder, eval-NAME.csv of other tests (lab/runs/other_test.h), and files
// for -o. Its first line names the columns of the run's kind.
#pragma once
#include <string>

#include "experiment/kind.h"
#include "lab/runs/run_record.h"

namespace poslab {

std::string header_of(const Kind&);              // "length,set,samples,loss,...", without the end of the line
std::string to_csv(const Results&);
// The rows, at least one. Throws BadInput if the file is missing, Failure with the line if it is damaged or cut off.
// in_part: columns may be missing; their numbers are NaN.
Results read_results(const std::string& path, const Kind&, bool in_part = false);

// A test and its record: eval.csv and result.json, or eval-NAME.csv and eval-NAME.json.
struct RecordedTest {
  Results rows;
  RunRecord record;
};
// Writes both files, with the table's checksum in the record. name: "" for a run's own test. tested: options of run and
// test.
void write_test(const std::string& folder, const std::string& name, const Results&, RunRecord, const Choices& tested);
// The test of this name in a run folder or external checkpoint; "": the run's own test. Throws as read_results() and
// read_record() do, Failure if they contradict each other in lengths or scores, and BadInput if the record belongs to
// another run than config.toml does. The own test is also checked by check_own_files().
RecordedTest read_test(const std::string& folder, const std::string& name = "");
// The own test of a trial of a sweep. Its folder may lack config.toml if it was restored from a file of --kept, and a
// record if eval.csv is the last file of its kind of run.
RecordedTest read_test(const std::string& folder, const Choices& config);
// Throws Failure if the rows belong to another test. csv: for messages.
void check_rows(const Results&, const Choices& tested, const std::string& csv);
// Throws Failure as read_test() does. csv, json: names for messages.
void check_test(const RecordedTest&, const Choices& tested, const std::string& csv, const std::string& json);

}  // namespace poslab
