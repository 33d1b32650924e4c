// Kernels with a planted race, each beside one without it: cuda/races.cpp has to distinguish the two.
#pragma once
#include "core/real.h"

namespace poslab::test {

// y: 256 numbers in device memory
struct Planted {
  const char* name;                   // of the kernel
  void (*launch)(real* y, bool race);
  const char* said;                   // in the message about the race
};
extern const Planted planted[];
extern const int planted_count;

}  // namespace poslab::test
