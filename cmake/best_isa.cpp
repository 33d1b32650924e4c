// The exit status is the index of the best instruction set of this machine in the list of cmake/kernels.cmake.
#include "core/platform/runs_here.h"

int main() { return poslab::runs_here("avx512") ? 2 : poslab::runs_here("avx2") ? 1 : 0; }
