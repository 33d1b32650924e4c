// Tests of a run under other options than its own. Each adds two files to the run, and eval.csv is not changed:
//
//   eval-NAME.csv     the counterpart of eval.csv, which has the run's own test
//   eval-NAME.json    the counterpart of result.json, with "test": the options that differ from config.toml
//
// An external checkpoint has such files, but no eval.csv: "test" then has the options that were typed, and "files" the
// checksums of "text", which was read, and of the checkpoint's "weights", "config.json" and "tokenizer", which is
// tokenizer.json or, without it, tokenizer.model and tokenizer_config.json. Each record ends with its own "checksum".
#pragma once
#include <string>
#include <vector>

#include "lab/runs/run_folder.h"
#include "lab/runs/run_record.h"

namespace poslab {

struct OtherTest {
  std::string name;  // NAME as the user gives it; "": made from the options
  Values options;    // options of test_options() that differ
  std::string text = {};  // for a checkpoint's test, the checksum of its inputs (lab/runs/text_source.h)
};

Values differing(const Choices& own, const Choices& tested);  // the options of test_options() that differ

// Gives the test a free name. Throws BadInput for a name that no file can have, for the name of a test under other
// options or of another text, and if no option differs.
void find_name(const std::string& folder, OtherTest&);
// Completes the record with the training's program and machine from result.json. tested: the options of run and test.
void write_other_test(const std::string& folder, const OtherTest&, const Results&, RunRecord, const Choices& tested);

std::string csv_of_test(const std::string& name);   // "eval-NAME.csv", or "eval.csv" for "", the run's own test
std::string json_of_test(const std::string& name);  // "eval-NAME.json", or "result.json" for ""
bool is_of_a_test(const std::string& file);         // eval-NAME.csv or eval-NAME.json
std::string other_half(const std::string& file);    // the other file of the pair
std::vector<std::string> other_tests(const std::string& folder);  // names, in order
// Files of such pairs whose other file is missing, in order.
std::vector<std::string> halves_of_tests(const std::string& folder);

// The missing file of a run's own test, eval.csv or result.json; "" for a tested run.
std::string missing_of_test(const std::string& folder, const Kind&);

// The command that repeats the test: `poslab eval runs/r1 --lengths 1:40 --name short`.
std::string test_command(const Kind&, const std::string& folder, const OtherTest&);

}  // namespace poslab
