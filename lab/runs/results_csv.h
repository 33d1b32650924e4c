// A test as a table on disk: eval.csv of a run folder, eval-NAME.csv of other tests (lab/runs/other_test.h), and files
// for -o. Its first line names the columns of the run's kind.
#pragma once
#include <string>

#include "experiment/kind.h"
#include "lab/runs/run_record.h"

namespace poslab {

std::string header_of(const Kind&);              // "length,set,samples,loss,...", without the end of the line
std::string to_csv(const Results&);
// At least one row. Throws BadInput where there is no such file, Failure with the line where it is damaged or cut off.
// in_part: it may have some of the columns; numbers of the others are NaN.
Results read_results(const std::string& path, const Kind&, bool in_part = false);

// A test and its record: eval.csv and result.json, or eval-NAME.csv and eval-NAME.json.
struct RecordedTest {
  Results rows;
  RunRecord record;
};
// Writes both, the own test of a run as "", with the table's checksum in the record. tested: options of run and test.
void write_test(const std::string& folder, const std::string& name, const Results&, RunRecord, const Choices& tested);
// Of a run folder its own test, or that of this name; also of an external checkpoint. Throws as read_results() and
// read_record(), and Failure where they contradict each other: lengths that the test had and the table lacks, scores
// that differ from the table's. BadInput where the record is of another run than config.toml. With the own test as
// check_own_files().
RecordedTest read_test(const std::string& folder, const std::string& name = "");
// The own test of a run of this configuration, a trial of a sweep: its folder may lack config.toml, as a file of --kept
// restores it, and a record, where eval.csv is the last file of its kind.
RecordedTest read_test(const std::string& folder, const Choices& config);
// Throws Failure where the rows are of another test. csv: for messages.
void check_rows(const Results&, const Choices& tested, const std::string& csv);
// Throws Failure as read_test() does. csv, json: for messages.
void check_test(const RecordedTest&, const Choices& tested, const std::string& csv, const std::string& json);

}  // namespace poslab
