// The files of a run folder belong together. A slip of the hand may copy a file of another run over one of them, which
// is read without complaint unless it is held against the others.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "lab/runs/run_record.h"

namespace poslab {

std::string checksum_of_bytes(const std::string&);  // core/checksum.h

// The run beside this one, of another configuration, whose file of this name has these bytes; else "".
std::string run_beside(const std::string& folder, const std::string& name, const std::string& bytes);
// Checksums of a run's logged, drawn and read data, by the names of the files that are there; for result.json. "text"
// has that of the text itself, as TextRecord::checksum() (lab/runs/text_source.h), of a run that reads one, "origin"
// that of the weights with which the run began (lab/runs/origin.h), if it did.
Values own_files(const std::string& folder);
// Throws Failure where one of these files is not the one that result.json, this record, goes with, and where
// metrics.jsonl ends before its step. A file that is missing, and a metrics.jsonl without lines, are for readers to
// judge.
void check_own_files(const std::string& folder, const RunRecord&);

// The first option in which two runs of a kind differ, but for the device, as a run may move; "": they are the same.
std::string difference(const Choices&, const Choices&);

// A file that says which configuration its run has, and what to do if it is not that of the folder's run.
struct Witness {
  std::string file;
  Choices config;
  std::string remedy;
};
Witness witness_of_config(const std::string& folder, const Kind&);  // config.toml. Throws BadInput as read_toml()
// The others that a folder may have. Absent: no such file, or it is damaged, or of no known configuration.
std::string remedy_of_checkpoint(const std::string& folder);
std::optional<Witness> witness_of_checkpoint(const std::string& folder, const Kind&);
std::optional<Witness> witness_of_result(const std::string& folder, const Kind&);
// Throws BadInput where config.toml and another file are of different runs, but for the device, as a run may move.
// `third` decides which of the two is not the run's; without it the message has both.
void check_same_run(const std::string& folder, const Witness& config, const Witness& other,
                    const std::function<std::optional<Witness>()>& third);

}  // namespace poslab
