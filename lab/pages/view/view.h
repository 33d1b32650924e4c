// Attention maps of runs at full resolution, as a folder: index.html, to be opened as a file, and maps/ beside it.
//
//   maps/RUN/STEP/overview.js                        the coarsest level of all heads, one after the other
//   maps/RUN/STEP/LAYER-HEAD/LEVEL-ROW-COLUMN.js     a tile of a finer level (lab/pages/view/tiles.h); 0 is the finest
//
// RUN counts from 0 in the order of the runs, LAYER and HEAD from 1.
#pragma once
#include <string>
#include <vector>

#include "lab/pages/view/subject.h"

namespace poslab::view {

constexpr int most_slots = 4096;

struct Written {
  int maps = 0;      // one head of a layer at a checkpoint
  double bytes = 0;  // of all files
};
// Makes the folder, complete or not at all. Keeps the weights of one layer in memory. Throws BadInput, before anything
// is written, for runs of several kinds or with different numbers of slots, more slots than most_slots or the memory
// allow, a run that `open` refuses, and an existing `out` or `out`.partial, its first name; Failure for a weight that
// is NaN, below 0 or above 1, or a file that cannot be written. Throws Stopped.
Written write(const std::vector<std::string>& runs, const Options&, const std::string& out);

Taken drawing_takes(const Subject&);  // besides the model

}  // namespace poslab::view
