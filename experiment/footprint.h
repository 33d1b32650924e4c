// What a run will take, from its sizes alone, before anything of it is made. An estimate: the terms that grow, with the
// factors that tests/footprint.cpp holds against the memory that is really used.
#pragma once
#include "experiment/config.h"

namespace poslab {

struct Footprint {
  double parameters = 0;             // numbers that are learned
  double state = 0;                  // bytes of weights, gradients and Adam's two moments
  double step = 0, test = 0;         // bytes besides: of a step, and of a sub-batch of tests, on the longest strings
  double bytes() const { return state + (step > test ? step : test); }
};
Footprint footprint(const Choices&);  // of a configuration that fits together (check)

struct Work { double step, test; };  // FLOPs of a step, mean over the training lengths, and of the whole test
Work work(const Choices&);

}  // namespace poslab
