// The files of a run folder belong together. A file of another run, copied over one of them by mistake, would be read
// without complaint if it were not compared with the others.
#pragma once
#include <functional>
#include <optional>
#include <string>

#include "lab/runs/run_record.h"

namespace poslab {

std::string checksum_of_bytes(const std::string&);  // core/checksum.h

// The path of a run next to this one with another configuration, whose file of this name has these bytes; else "".
std::string run_beside(const std::string& folder, const std::string& name, const std::string& bytes);
// Checksums of a run's logged, drawn and read data for result.json, by the names of existing files. "text" is
// TextRecord::checksum() (lab/runs/text_source.h) of a run's text, "origin" the checksum of the weights that it began
// with (lab/runs/origin.h).
Values own_files(const std::string& folder);
// Throws Failure if one of these files does not match the record of result.json, or if metrics.jsonl ends before the
// record's step. Missing files and an empty metrics.jsonl are allowed here.
void check_own_files(const std::string& folder, const RunRecord&);

// The first option in which two runs of a kind differ, except the device, which may change; "" if they are the same.
std::string difference(const Choices&, const Choices&);

// A file that records its run's configuration, and the remedy if it differs from the folder's run.
struct Witness {
  std::string file;
  Choices config;
  std::string remedy;
};
Witness witness_of_config(const std::string& folder, const Kind&);  // config.toml. Throws BadInput as read_toml()
// The other files of a folder; absent if missing, damaged, or without a known configuration.
std::string remedy_of_checkpoint(const std::string& folder);
std::optional<Witness> witness_of_checkpoint(const std::string& folder, const Kind&);
std::optional<Witness> witness_of_result(const std::string& folder, const Kind&);
// Throws BadInput if config.toml and another file belong to different runs, except for the device. `third` decides
// which of the two is not the run's; without it the message names both.
void check_same_run(const std::string& folder, const Witness& config, const Witness& other,
                    const std::function<std::optional<Witness>()>& third);

}  // namespace poslab
