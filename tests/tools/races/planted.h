// Kernels with a planted race, each with a twin without it: cuda/races.cpp must distinguish the two.
#pragma once
#include "core/real.h"

namespace poslab::test {

// y: 256 numbers in device memory
struct Planted {
  const char* name;                   // the kernel's
  void (*launch)(real* y, bool race);
  const char* said;                   // what the message about the race contains
};
extern const Planted planted[];
extern const int planted_count;

}  // namespace poslab::test
