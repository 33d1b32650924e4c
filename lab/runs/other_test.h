// Tests of a run under other options than its own. Each is a result beside eval.csv, which is not changed:
//
//   eval-NAME.csv     what eval.csv is to the run's own test
//   eval-NAME.json    what result.json is to it, with "test": the options that differ from config.toml
//
// An external checkpoint has them too, and no eval.csv: "test" then has the options that were typed, and "files" the
// checksums of "text", which was read, and of the checkpoint's "weights", "config.json" and "tokenizer", which is
// tokenizer.json or, without it, tokenizer.model and tokenizer_config.json. Each record ends with its own "checksum".
#pragma once
#include <string>
#include <vector>

#include "lab/runs/run_folder.h"
#include "lab/runs/run_record.h"

namespace poslab {

struct OtherTest {
  std::string name;  // NAME, as the user says it; "": made from the options
  Values options;    // of test_options(), if they differ
  std::string text = {};  // of a checkpoint's test, the checksum of what it reads (lab/runs/text_source.h)
};

Values differing(const Choices& own, const Choices& tested);  // of test_options()

// Gives it a name under which nothing else is lost. Throws BadInput: a name that no file can have, or that a test under
// other options or of another text has already, or a name where no option differs.
void find_name(const std::string& folder, OtherTest&);
// Completes the record with the training's program and machine from result.json. tested: the options of run and test.
void write_other_test(const std::string& folder, const OtherTest&, const Results&, RunRecord, const Choices& tested);

std::string csv_of_test(const std::string& name);   // "eval-NAME.csv"; of "", the run's own: "eval.csv"
std::string json_of_test(const std::string& name);  // "eval-NAME.json"; of "": "result.json"
bool is_of_a_test(const std::string& file);         // eval-NAME.csv or eval-NAME.json
std::string other_half(const std::string& file);    // of such a file: the other of the two
std::vector<std::string> other_tests(const std::string& folder);  // names, in their order
// Files of such a test that lack the other of the two, in their order.
std::vector<std::string> halves_of_tests(const std::string& folder);

// The file of its own test that a run lacks, eval.csv or result.json; "": it has been tested.
std::string missing_of_test(const std::string& folder, const Kind&);

// The command that repeats it: `poslab eval runs/r1 --lengths 1:40 --name short`.
std::string test_command(const Kind&, const std::string& folder, const OtherTest&);

}  // namespace poslab
