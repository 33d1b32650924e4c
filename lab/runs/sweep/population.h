// Several trials trained together by one process: a population. On a GPU each is trained by its own thread with its own
// queue (core/platform/own_queue.h). The steps of these models are too small to fill a GPU, and steps of different
// queues run at the same time; the processor's part of the steps uses all cores. Nothing is shared, so each trial gets
// the same bits as alone, and trials may differ in any option.
//
// On a CPU one trial fills all cores, so trials are trained one after the other. It is the same on a GPU with
// POSLAB_DEBUG, because times of kernels that run at once would mean nothing.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "core/platform/own_queue.h"
#include "lab/runs/sweep/state.h"

namespace poslab::sweep {

constexpr int most_together = max_own_queues;

struct Training {
  int threads = 1;          // of each trial
  std::string device = {};  // "": the trial's
  bool force = false;       // even if memory or time seem too large
};

Device device_of(const Trial&, const Training&);  // of `poslab train`

// The options of `poslab train`, or of `poslab resume` if its folder exists, for this trial.
Settings settings_of(const Trial&, const SweepFolder&, const Training&);

// Trains at most `most_together` trials of `poslab train` up to their results, each in its folder and with its own log.
// A failed one stops no other. After a signal (lab/files/interrupt.h) all save their state and end. Calls Ended for one
// trial at a time, with the exit status that a separate process would have.
using Ended = std::function<void(const Trial&, int status)>;
void train_population(const std::vector<const Trial*>&, const SweepFolder&, const Training&, const Ended&);

}  // namespace poslab::sweep
