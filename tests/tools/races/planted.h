// Kernels with a race planted, each beside one without it: whether cuda/races.cpp tells them apart.
#pragma once
#include "core/real.h"

namespace poslab::test {

// y: 256 numbers of the device's memory
struct Planted {
  const char* name;                   // of the kernel
  void (*launch)(real* y, bool race);
  const char* said;                   // of the race
};
extern const Planted planted[];
extern const int planted_count;

}  // namespace poslab::test
