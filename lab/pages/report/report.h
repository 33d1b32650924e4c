// The report: one HTML page that compares runs, readable from a file without a network; or its first chart alone, as a
// picture or as numbers. It only reads run folders, and computes no accuracies.
#pragma once
#include <string>
#include <vector>

#include "lab/pages/page/document.h"
#include "lab/pages/report/tested_run.h"

namespace poslab::report {

// Writes `out` from run folders, each with config.toml, metrics.jsonl, eval.csv, result.json and, if the pictures were
// made (lab/runs/pictures.h), pictures.json. Tests under other options (lab/runs/other_test.h) are separate lines.
// find_runs (tested_run.h) describes the arguments; skipped inputs are returned, a sentence each. If `out` is not a
// page, it is the charts of accuracy against length alone: a picture as wide as `width` says (lab/pages/page/print.h),
// or .json and .csv, their numbers. `slides`: the page is one for a lecture.
//
// Runs of language models have a page of their own, and next to it NAME-lengths.csv, the rows of all eval.csv.
//
// Throws BadInput if a folder is missing, if no run is finished, or if runs of tasks and of language models are mixed;
// Failure if a file is damaged or `out` cannot be written. An old file at `out` is then unchanged.
std::vector<std::string> write(const std::vector<std::string>& words, const std::string& out,
                               const std::string& width = "", bool slides = false);

// The same for tests that no run keeps (tested_run), all of one model at equal lengths, as in `poslab lm eval
// --encoding a,b -o`. A .csv then has the rows of all tests. Call the check before the tests.
void check_tests_output(const std::string& out);
void write_tests(const std::vector<TestedRun>&, const std::string& out);
// Such tests side by side, by their names: the loss and in brackets the perplexity, at each length and at each place of
// the longest windows. tail: eval_tail, the last tokens that count; 0: all.
std::vector<page::Grid> compared(const std::vector<std::string>& names, const std::vector<const Results*>&, int tail);

// The contents of `out`, except the CSV.
std::string text(const std::vector<std::string>& words, const std::string& out);

}  // namespace poslab::report
