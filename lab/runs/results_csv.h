// A test as a table on disk: eval.csv of a run folder, eval-NAME.csv of other tests (lab/runs/other_test.h), and files
// for -o. Its first line names the columns of the run's kind.
#pragma once
#include <string>

#include "experiment/kind.h"
#include "lab/runs/run_record.h"

namespace poslab {

std::string header_of(const Kind&);              // "length,set,samples,loss,...", without the end of the line
std::string to_csv(const Results&);
std::string checksum_of(const Results&);         // of the bytes of to_csv(), as a record has it
// At least one row. Throws BadInput where there is no such file, Failure with the line where it is damaged.
Results read_results(const std::string& path, const Kind&);

// A test and its record: eval.csv and result.json, or eval-NAME.csv and eval-NAME.json.
struct RecordedTest {
  Results rows;
  RunRecord record;
};
// Of a run folder its own test, or that of this name; also of an external checkpoint. Throws as read_results() and
// read_record(), and Failure where they contradict each other: lengths that the test had and the table lacks, scores
// that are not those of the table. BadInput where the record is of another run than config.toml.
RecordedTest read_test(const std::string& folder, const std::string& name = "");
// The same of a folder without config.toml, as a sweep restores it: the own test of a run of this configuration.
RecordedTest read_test(const std::string& folder, const Choices& config);
// Throws Failure as read_test() does. csv, json: for messages.
void check_test(const RecordedTest&, const Choices& tested, const std::string& csv, const std::string& json);

}  // namespace poslab
