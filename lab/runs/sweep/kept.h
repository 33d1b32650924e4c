// The results of trials without their run folders: small enough to be committed, and sufficient to continue a sweep and
// to make its tables. A line of JSON for each finished trial, with the columns of its eval.csv:
//
//   {"id": "9c51f0...", "result": {"paper_score": 0.51, ..., "commit": "0123abc", "seconds": 11.2},
//    "tested": {"length": "1 2 3", "accuracy": "1.000000 0.968750 0.937500", "majority": "= 41b884... majority"}}
//
// "= ID COLUMN" is the column of an earlier line: baselines do not depend on the encoding. A trial with further tests
// also has "tests", by the name of their file: tables like "tested", and records, which are the objects of JSON files.
// The result of a trial that read a text has "files": {"text": checksum of the text}; older lines lack it.
// "checksum" binds id, result and tests together; older lines lack it. The plan has the options, by id. Weights, curves
// over steps and pictures are not kept: a look inside a model requires training it again.
#pragma once
#include <map>
#include <string>

#include "lab/runs/sweep/state.h"

namespace poslab::sweep {

struct Kept {
  std::string result, tested;  // result: result.json, without config, of "files" only "text"; or "". tested: eval.csv
  std::map<std::string, std::string> tests;  // further tests and records, by file name
};
std::string text_read(const Kept&);  // the checksum of the text; "": there is none, or the line is older
// The kept trials, by id. Throws BadInput if the file is missing, and Failure with the line if it is damaged or an id
// has the result or a table of another trial.
std::map<std::string, Kept> read_kept(const std::string& path);
// Adds the finished trials of the plan that the file lacks, and makes a missing file. Existing lines stay. Returns the
// number of added ones.
size_t keep(const Plan&, const SweepFolder&, const std::string& path);
// Called before kept_lines() replaces a file: throws BadInput if the file has trials that the plans and folder lack.
void check_replaceable(const std::string& path, const std::vector<Plan>&, const SweepFolder&);
// The lines of all trained trials, with finished tests. If a test is damaged, keep() and this throw as restore() does.
std::string kept_lines(const std::vector<Plan>&, const SweepFolder&);
// Makes FOLDER/ID, with its tests in the plan, for each trial in the file that no worker has begun. Returns their
// number. Throws Failure if a trial's rows belong to another test, its scores do not follow from its rows, or its
// result has other options; BadInput if a trial read another text than the one at its path. Only the columns of the
// line are checked.
size_t restore(const Plan&, const SweepFolder&, const std::string& path);

}  // namespace poslab::sweep
