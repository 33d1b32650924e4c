// Several trials trained together by one process: a population. On a GPU each is trained by a thread of its own with a
// queue of its own (core/platform/own_queue.h). The steps of these models are too small to fill a GPU, and steps of
// different queues run at the same time; the processor's part of the steps uses all cores. Nothing is shared, so each
// trial gets the same bits as alone, and trials may differ in any option.
//
// On a CPU one trial fills all cores, and trials are trained one after the other. With POSLAB_DEBUG also on a GPU, as
// times of kernels that run at once would mean nothing.
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
  std::string device = {};  // "": that of the trial
  bool force = false;       // also if it seems too large for the memory, or to take a month
};

Device device_of(const Trial&, const Training&);  // of `poslab train`

// The options of `poslab train`, or of `poslab resume` if its folder is there, that do this trial.
Settings settings_of(const Trial&, const SweepFolder&, const Training&);

// Trains the trials, at most `most_together` of `poslab train`, up to their results, each in its folder and with a log
// of its own. One that fails stops no other. After a signal (lab/files/interrupt.h) all save their state and end. Says
// of each how it ended, with the exit status that a process of its own would have had; never two at once.
using Ended = std::function<void(const Trial&, int status)>;
void train_population(const std::vector<const Trial*>&, const SweepFolder&, const Training&, const Ended&);

}  // namespace poslab::sweep
