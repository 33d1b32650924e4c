// Attention maps of runs at full resolution, as a folder: index.html, to be opened as a file, and maps/ next to it.
//
//   maps/RUN/STEP/overview.js                        the coarsest level of all heads, one after the other
//   maps/RUN/STEP/LAYER-HEAD/LEVEL-ROW-COLUMN.js     a tile of a finer level (lab/pages/view/tiles.h); 0 is the finest
//
// RUN counts from 0 in the order of the runs, LAYER and HEAD from 1.
#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "experiment/inside.h"
#include "lab/runs/values.h"

namespace poslab::view {

constexpr int most_slots = 4096;

// The requested maps. Numbers count from 1.
struct Options {
  int length = 0;         // length of the input, or tokens; 0: the trained length
  int sample = 1;         // index of the string, text or question of the test
  std::string text = {};  // for kinds that read texts: in place of the test's
  std::vector<int> layers = {}, heads = {};
  std::vector<int64_t> steps = {};  // checkpoints; each of these three may be empty, for all
  bool force = false;               // even if the memory seems too small
};

// A run of any kind whose attention is drawn: a task's encoder, a language model, the encoder of a T5.
struct Subject : Sample {
  std::string folder, heading;  // heading: its text, or the sample's task
  Values setting = {};
  std::vector<int64_t> steps = {};              // steps of its checkpoints, in order
  std::function<void(int64_t step)> load = {};  // loads the weights of that checkpoint
  bool trained_elsewhere = false;               // an external checkpoint has only one, called step 0
};
// Throws BadInput for a missing run, a length that does not fit, or a sample or text that its kind lacks.
Subject open(const std::string& folder, const Options&);

struct Written {
  int maps = 0;      // a map is of one head at one checkpoint
  double bytes = 0;  // of all files
};
// Makes the folder, complete or not at all. Keeps the weights of one layer in memory. Throws BadInput, before anything
// is written, for runs of several kinds or with different numbers of slots, more slots than most_slots or the memory
// allow, a run that `open` refuses, and an existing `out` or `out`.partial, its first name; Failure for a weight that
// is NaN, below 0 or above 1, or a file that cannot be written. Throws Stopped.
Written write(const std::vector<std::string>& runs, const Options&, const std::string& out);

Taken drawing_takes(const Subject&);  // besides the model

}  // namespace poslab::view
