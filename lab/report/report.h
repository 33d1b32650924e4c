// The report: one HTML page that compares runs, readable from a file, without a network and, but for the matrices,
// without JavaScript. It only reads run folders; it computes no accuracy that they do not hold.
#pragma once
#include <string>
#include <vector>

namespace poslab::report {

// Writes `out` from run folders, each with config.toml, metrics.jsonl, eval.csv, result.json and, if the pictures were
// made (lab/pictures.h), pictures.json. Throws BadInput where a folder is missing or unfinished, Failure where a file
// is damaged or `out` cannot be written; then whatever stood at `out` still stands there.
void write(const std::vector<std::string>& runs, const std::string& out);

}  // namespace poslab::report
