// The exit status is the place, in the list of cmake/kernels.cmake, of the best instruction set that this machine runs.
#include "core/platform/runs_here.h"

int main() { return poslab::runs_here("avx512") ? 2 : poslab::runs_here("avx2") ? 1 : 0; }
