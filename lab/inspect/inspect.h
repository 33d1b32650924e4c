// Runs seen from inside, as a folder: pca.csv, pca.npz, attention.npz, coverage.csv and index.html, which needs nothing
// else.
#pragma once
#include <string>
#include <vector>

#include "lab/inspect/figures.h"
#include "lab/inspect/tables.h"

namespace poslab::inspect {

// lengths: empty for each run's own (experiment/lengths.h). device: "" for that of each run. BadInput, before anything
// is written, where a run is missing or a length has no room; Failure if `out` cannot be written.
void write(const std::vector<std::string>& runs, const std::vector<int>& lengths, int samples,
                      const std::string& out, const std::string& device = "");

}  // namespace poslab::inspect
