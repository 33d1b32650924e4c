// POSLAB_DEBUG, a ladder for looking inside a run without changing it: results have the same bits on every rung.
//   1 a line for each op, as it runs, forward and backward                                       autograd/debug_check.h
//   2 no lines; at the end a table of where the time went, next to the least possible time        core/profile.h
//   3 both, and the lines have shapes and times
//   4 as 3; the first NaN or infinity in a result or a gradient ends the program and names its op
#pragma once

namespace poslab {

#ifdef __wasm__
constexpr int debug_level() { return 0; }   // a web page has no environment variables, and its program must be small
#else
int debug_level();            // from the environment, 0 without it; throws BadInput for anything but 0 .. 4
void set_debug_level(int);    // for tests
#endif

}  // namespace poslab
